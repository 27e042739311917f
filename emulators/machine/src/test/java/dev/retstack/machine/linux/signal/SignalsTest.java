package dev.retstack.machine.linux.signal;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.system.Dialect;
import dev.retstack.machine.linux.thread.GuestThread;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.linux.thread.Threads;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Who gets which signal, and when; without a core. */
class SignalsTest {
  private static final int ALARM = 14;
  private static final int USER = 10;
  private static final int SEGV = 11;
  private static final int REAL_TIME = 40;

  private final Dialect.Signals numbers =
      Isas.find("x86_64").orElseThrow().syscalls().dialect().signals();
  private final SignalInfo.Layout layout =
      new SignalInfo.Layout(8, ByteOrder.LITTLE_ENDIAN, numbers);
  private long now;
  private final Threads threads = new Threads(new Schedule(100, 0), () -> now);
  private final Signals signals = new Signals(numbers, threads, layout);

  private SignalInfo sent(int signal) {
    return layout.sent(signal, SignalInfo.USER, 1000, 1000);
  }

  private List<Integer> delivered() {
    List<Integer> all = new ArrayList<>();
    for (Optional<SignalInfo> next = signals.next(); next.isPresent(); next = signals.next()) {
      all.add(next.get().signal());
    }
    return all;
  }

  private static long set(int... numbers) {
    long set = 0;
    for (int signal : numbers) {
      set |= 1L << (signal - 1);
    }
    return set;
  }

  private void handle(int... numbers) {
    for (int signal : numbers) {
      signals.action(signal, new SignalAction(0x4000, 0, 0, 0));
    }
  }

  @Test
  void faultsComeFirstThenTheLowestAndOnlyRealTimeOnesAreQueued() {
    handle(USER, SEGV, ALARM, REAL_TIME);
    for (int signal : new int[] {REAL_TIME, ALARM, USER, SEGV, USER, REAL_TIME}) {
      signals.send(sent(signal), null);
    }
    assertThat(signals.mustStop()).isTrue();
    assertThat(delivered()).containsExactly(SEGV, USER, ALARM, REAL_TIME, REAL_TIME);
    signals.seen();
    assertThat(signals.mustStop()).isFalse();
  }

  @Test
  void blockedOnesWaitAndIgnoredOnesAreForgotten() {
    handle(USER, ALARM);
    signals.mask(set(USER, 9, 19));
    signals.send(sent(USER), null);
    signals.send(sent(17), null); // SIGCHLD does nothing
    assertThat(signals.current().mask).isEqualTo(set(USER));
    assertThat(signals.pending()).isEqualTo(set(USER));
    assertThat(delivered()).isEmpty();
    signals.mask(0);
    assertThat(delivered()).containsExactly(USER);
    signals.mask(set(ALARM));
    signals.send(sent(ALARM), null);
    signals.action(ALARM, new SignalAction(SignalAction.IGNORE, 0, 0, 0));
    signals.mask(0);
    assertThat(delivered()).isEmpty();
  }

  @Test
  void noMoreAreKeptThanThereIsRoom() {
    handle(REAL_TIME);
    signals.mask(set(REAL_TIME));
    for (int i = 0; i < PendingSignals.MOST; i++) {
      assertThat(signals.send(sent(REAL_TIME), null)).isTrue();
    }
    assertThat(signals.send(sent(REAL_TIME), null)).isFalse();
    signals.mask(0);
    assertThat(delivered()).hasSize(PendingSignals.MOST);
  }

  @Test
  void aSignalForTheProcessGoesToAThreadThatTakesIt() {
    handle(USER);
    signals.mask(set(USER));
    GuestThread other = threads.start(0, OptionalLong.empty());
    signals.started(other);
    assertThat(signals.of(other).mask).isEqualTo(set(USER));
    signals.of(other).mask = 0;
    signals.send(sent(USER), null);
    assertThat(signals.of(other).pending.set()).isEqualTo(set(USER));
    assertThat(delivered()).isEmpty();
  }

  @Test
  void aHandlerBlocksItsSignalUntilItsMaskIsBack() {
    handle(USER);
    SignalAction action = new SignalAction(0x4000, SignalAction.RESETHAND, 0, set(ALARM));
    signals.action(USER, action);
    signals.began(USER, action);
    assertThat(signals.current().mask).isEqualTo(set(USER, ALARM));
    assertThat(signals.action(USER).hasHandler()).isFalse();
  }

  @Test
  void aTimerThatIsLateTellsHowOftenItExpired() {
    handle(ALARM);
    VirtualTimer timer = signals.timers().create(false, ALARM, 7, null);
    signals.timers().set(timer, 100, 10);
    assertThat(signals.ask()).isEqualTo(100);
    now = 99;
    signals.expire();
    assertThat(delivered()).isEmpty();
    now = 135;
    signals.expire();
    now = 155;
    signals.expire();
    assertThat(delivered()).containsExactly(ALARM);
    assertThat(timer.overruns()).isEqualTo(5); // 110 to 150
    assertThat(signals.ask()).isEqualTo(5);
  }

  @Test
  void nobodyWaitsForATimerWhoseSignalDoesNothing() {
    signals.action(ALARM, new SignalAction(SignalAction.IGNORE, 0, 0, 0));
    signals.timers().set(signals.timers().interval(VirtualTimers.REAL), 100, 1);
    assertThat(signals.nextNs()).isEqualTo(Long.MAX_VALUE);
    handle(ALARM);
    assertThat(signals.nextNs()).isEqualTo(100);
    signals.mask(set(ALARM));
    assertThat(signals.nextNs()).isEqualTo(Long.MAX_VALUE);
    signals.await(set(ALARM), OptionalLong.empty());
    assertThat(signals.nextNs()).isEqualTo(100);
    assertThat(threads.next(0)).isTrue();
    assertThat(threads.nowNs()).isEqualTo(100);
    assertThat(signals.arrived().orElseThrow().signal()).isEqualTo(ALARM);
  }
}
