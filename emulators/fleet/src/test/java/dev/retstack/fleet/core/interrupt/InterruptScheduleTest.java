package dev.retstack.fleet.core.interrupt;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

class InterruptScheduleTest {
  private static InterruptSchedule schedule(boolean masked, long... periods) {
    return new InterruptSchedule(
        Arrays.stream(periods).mapToObj(p -> new InterruptTimer(p, "h")).toList(), masked);
  }

  @Test
  void aTimerIsDueAtTheMultiplesOfItsPeriod() {
    InterruptSchedule s = schedule(false, 100);
    assertThat(s.due(99)).isEqualTo(InterruptSchedule.NONE);
    assertThat(s.ask(40)).isEqualTo(60);
    assertThat(s.due(100)).isZero();
    s.enter();
    s.exit(0, 130, false);
    assertThat(s.due(199)).isEqualTo(InterruptSchedule.NONE);
    assertThat(s.ask(150)).isEqualTo(50);
    assertThat(s.due(203)).isZero();
  }

  @Test
  void nothingIsDueInAHandlerNorWhileMasked() {
    InterruptSchedule s = schedule(true, 100);
    assertThat(s.due(500)).isEqualTo(InterruptSchedule.NONE);
    assertThat(s.ask(500)).isEqualTo(Long.MAX_VALUE);
    s.mask(false);
    assertThat(s.due(500)).isZero();
    s.enter();
    assertThat(s.masked()).isTrue();
    assertThat(s.due(700)).isEqualTo(InterruptSchedule.NONE);
    s.exit(0, 710, false);
    assertThat(s.masked()).isFalse();
  }

  @Test
  void periodsThatPassInAHandlerBringItOnlyOnce() {
    InterruptSchedule s = schedule(false, 10);
    s.enter();
    s.exit(0, 1_004, false);
    assertThat(s.due(1_009)).isEqualTo(InterruptSchedule.NONE);
    assertThat(s.due(1_010)).isZero();
  }

  @Test
  void theProgramGetsOnBetweenTwoInterrupts() {
    InterruptSchedule s = schedule(false, 10, 10);
    assertThat(s.due(10)).isZero();
    s.enter();
    s.exit(0, 25, false);
    assertThat(s.due(25)).isEqualTo(InterruptSchedule.NONE);
    assertThat(s.ask(25)).isEqualTo(1);
    assertThat(s.due(26)).isEqualTo(1);
  }

  @Test
  void aTrapLeavesTheTimersAlone() {
    InterruptSchedule s = schedule(false, 100);
    s.enter();
    s.exit(InterruptSchedule.NONE, 150, false);
    assertThat(s.due(151)).isZero();
  }

  @Test
  void aTimerIsReadFromTextAndRefusedWithAnExample() {
    assertThat(InterruptTimer.parse("1_000:rtos_interrupt"))
        .isEqualTo(new InterruptTimer(1_000, "rtos_interrupt"))
        .hasToString("1000:rtos_interrupt");
    for (String wrong : List.of("", "12", ":f", "x:f", "0:f", "-3:f", "7:")) {
      assertThatThrownBy(() -> InterruptTimer.parse(wrong))
          .isInstanceOf(IllegalArgumentException.class);
    }
    assertThatThrownBy(() -> InterruptTimer.parse("soon:f"))
        .hasMessage("'soon:f' is not a timer: PERIOD:HANDLER, as in 1000:rtos_interrupt");
  }
}
