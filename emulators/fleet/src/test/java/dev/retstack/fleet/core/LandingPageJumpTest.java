package dev.retstack.fleet.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A program may jump to the landing page, where no time passes: it must not go round for ever. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LandingPageJumpTest {
  private static final LoadedImage IMAGE =
      Zoo.images().stream().filter(i -> i.isa().name().equals("aarch64")).findFirst().orElseThrow();

  private static final long START = ImageLayout.landingPage(IMAGE.elf());
  private static final long SLOTS_END = LandingPage.endOf(START, IMAGE.isa());

  @ParameterizedTest
  @EnumSource(names = {"AUTO", "JAVA"})
  void behindTheHandlerSlotsIsAFault(ProbeKind probe) {
    long filler = SLOTS_END + 0x100;
    for (boolean traced : List.of(true, false)) {
      // x17 = filler; br x17
      assertAstray(run(probe, traced, filler, entry -> 0xd61f0220), filler);
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"AUTO", "JAVA"})
  void aHandlerSlotThatNothingWasSentToIsAFault(ProbeKind probe) {
    assertAstray(run(probe, true, START + 20, entry -> 0xd61f0220), START + 20); // br x17
  }

  @ParameterizedTest
  @EnumSource(names = {"AUTO", "JAVA"})
  void aReturnAddressBehindTheHandlerSlotsIsAFault(ProbeKind probe) {
    long function = IMAGE.elf().symbol("fib").orElseThrow().entry();
    long filler = SLOTS_END + 0x100;
    // x30 is there, where fib's hijacked return then leads
    Run run = run(probe, true, filler, entry -> branch(entry, function));
    assertThat(run.records().size()).isPositive();
    assertAstray(run, filler);
  }

  private static void assertAstray(Run run, long address) {
    assertThat(run.ending().end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(run.ending().detail())
        .startsWith("jump to 0x%x, which is the tracer's".formatted(address));
  }

  private static int branch(long from, long to) {
    return 0x1400_0000 | ((int) ((to - from) >> 2) & 0x03ff_ffff);
  }

  /** Starts with an address in x17 and x30, and then an instruction. */
  private static Run run(ProbeKind probe, boolean traced, long address, ToLongFunction<Long> last) {
    int low = (int) (address & 0xffff) << 5;
    int high = (int) (address >> 16) << 5;
    long entry = IMAGE.elf().entry();
    ByteBuffer code = ByteBuffer.allocate(20).order(ByteOrder.LITTLE_ENDIAN);
    code.putInt(0xd280_0011 | low).putInt(0xf2a0_0011 | high); // mov x17
    code.putInt(0xd280_001e | low).putInt(0xf2a0_001e | high); // mov x30
    code.putInt((int) last.applyAsLong(entry + 16));
    return Run.of(
        IMAGE,
        Run.options().withProbe(probe).withTraced(traced),
        1_000,
        core -> core.engine().mem_write(entry, code.array()));
  }
}
