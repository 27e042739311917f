package dev.retstack.fleet.probe.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.probe.frame.FrameStack;
import dev.retstack.fleet.probe.frame.GivenUp;
import dev.retstack.fleet.probe.frame.GivenUpTest;
import dev.retstack.fleet.probe.java.RetStack;
import dev.retstack.fleet.probe.task.StackRegions.Region;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** Contexts alone: ret_stacks without a core. */
class ContextsTest {
  private static final int HANDLERS = 4;

  /** Main's stack ends at 0x7f000; an array of stacks lies at 0x10000, 0x8000 bytes each. */
  private static final Region MAIN = new Region(0x7_0000, 0x8_0000, false);

  private static final Region ARRAY = new Region(0x1_0000, 0x5_0000, true);

  private OptionalLong declared = OptionalLong.empty();
  private final List<String> told = new ArrayList<>();
  private final Contexts<Frames> contexts =
      new Contexts<>(
          Frames::new,
          at -> MAIN.holds(at) ? MAIN : ARRAY,
          () -> declared,
          new Listener(),
          new GivenUp(new GivenUpTest.Words()));

  private static final class Frames implements FrameStack {
    final RetStack stack = new RetStack(1_000, HANDLERS, (_, _) -> 0);

    @Override
    public int size() {
      return stack.size();
    }

    @Override
    public long selfPc(int frame) {
      return stack.selfPc(frame);
    }

    @Override
    public long slot(int frame) {
      return stack.slot(frame);
    }

    @Override
    public boolean isHidden(int frame) {
      return stack.isHidden(frame);
    }

    @Override
    public int kept() {
      return stack.kept();
    }

    @Override
    public int visible() {
      return stack.size();
    }

    @Override
    public long retP(int frame) {
      return stack.retP(frame);
    }

    @Override
    public long fromPc(int frame) {
      return stack.fromPc(frame);
    }

    @Override
    public int place(int frame) {
      return frame % HANDLERS;
    }

    @Override
    public boolean isTail(int frame) {
      return stack.isTail(frame);
    }

    @Override
    public void truncate(int frames) {
      stack.truncate(frames);
    }

    @Override
    public long time(int frame) {
      return stack.time(frame);
    }

    @Override
    public long fp(int frame) {
      return stack.fp(frame);
    }

    @Override
    public int recorded() {
      return stack.recorded();
    }

    @Override
    public int shown() {
      return stack.shown();
    }

    @Override
    public int unknown() {
      return stack.unknown();
    }

    @Override
    public void beginAnew() {
      stack.beginAnew();
    }

    @Override
    public void showExit(int frame) {
      stack.showExit(frame);
    }

    @Override
    public GivenUp.Frame givenUp(int frame) {
      return new GivenUp.Frame(0, 0, retP(frame), 0, 0, frame % HANDLERS, 0, 0);
    }

    @Override
    public int find(int place, long above) {
      return stack.find(place, above);
    }
  }

  private final class Listener implements Contexts.Listener<Frames> {
    @Override
    public void write(Frames left) {}

    @Override
    public void record(byte kind, int depth, long selfPc, long fromPc, long retP) {
      String what =
          kind == RecordBatch.TASK
              ? List.of("switched", "started", "ended").get((int) fromPc - 1)
              : kind == RecordBatch.INTERRUPT_ENTER ? "interrupt" : "back from";
      told.add("%s %d at depth %d".formatted(what, selfPc, depth));
    }

    @Override
    public long now() {
      return 0;
    }

    @Override
    public void over(Frames frames) {}
  }

  /** As a probe does it. */
  private void enter(long retP) {
    if (!contexts.current().holds(retP)) {
      assertThat(contexts.enter(retP, 0)).isTrue();
    }
    RetStack stack = contexts.current().frames.stack;
    contexts.giveUp(stack.below(retP));
    stack.push(0, 0, retP, false, 0, true);
  }

  /** As a probe does it; the task it was in. */
  private long exit(int handler, long stackPointer) {
    Context<Frames> now = contexts.current();
    int frame = now.frames.find(handler, stackPointer);
    if (!now.holds(stackPointer) || frame < 0 || frame >= now.frames.size()) {
      assertThat(contexts.exit(handler, stackPointer, stackPointer, new GivenUpTest.Nothing()))
          .isNull();
    }
    RetStack stack = contexts.current().frames.stack;
    frame = stack.find(handler, stackPointer);
    assertThat(stack.retP(frame)).isLessThan(stackPointer);
    stack.truncate(frame);
    return contexts.current().task.id;
  }

  @Test
  void oneStackIsOneTaskHoweverDeepAndIsAskedAboutOncePerPage() {
    for (int round = 0; round < 2; round++) {
      for (long retP = 0x7_f000; retP > 0x7_1000; retP -= 0x500) {
        enter(retP);
      }
    }
    assertThat(told).isEmpty();
    assertThat(contexts.current().holds(0x7_2000)).isTrue();
  }

  @Test
  void aStackInAnotherRegionIsATaskAndItsCallerReturnsAfterwards() {
    enter(0x7_f000);
    enter(0x7_e000);
    enter(0x1_7ff0); // above nothing known, below main's: another region
    enter(0x1_7f00);
    enter(0x7_d000);
    assertThat(exit(2, 0x7_d008)).isZero();
    assertThat(exit(1, 0x1_7f08)).isEqualTo(1);
    assertThat(exit(1, 0x7_e008)).isZero();
    assertThat(exit(0, 0x1_7ff8)).isEqualTo(1);
    assertThat(exit(0, 0x7_f008)).isZero();
    assertThat(told)
        .containsExactly(
            "started 1 at depth 0",
            "switched 0 at depth 2",
            "switched 1 at depth 2",
            "switched 0 at depth 2",
            "switched 1 at depth 1",
            "switched 0 at depth 1");
  }

  @Test
  void stacksOfOneArrayAreToldApartByTheGapBetweenThem() {
    enter(0x7_f000);
    enter(0x1_7ff0);
    enter(0x1_fff0);
    enter(0x1_7e00);
    enter(0x1_fe00);
    assertThat(told)
        .containsExactly(
            "started 1 at depth 0",
            "started 2 at depth 0",
            "switched 1 at depth 1",
            "switched 2 at depth 1");
  }

  @Test
  void anInterruptHasAStackOfItsOwnOnTheStackOfWhatItInterrupts() {
    enter(0x7_f000);
    enter(0x7_e000);
    contexts.interruptEnter(7, 0x100, 0x7_df00, false, true);
    enter(0x7_de00);
    enter(0x7_dd00);
    assertThat(contexts.current().frames.size()).isEqualTo(2);
    assertThat(exit(1, 0x7_dd08)).isZero();
    assertThat(exit(0, 0x7_de08)).isZero();
    contexts.interruptExit(0x100, 0x7_df00);
    assertThat(contexts.current().frames.size()).isEqualTo(2);
    enter(0x7_dd00);
    assertThat(exit(2, 0x7_dd08)).isZero();
    assertThat(exit(1, 0x7_e008)).isZero();
    assertThat(told).containsExactly("interrupt 7 at depth 2", "back from 7 at depth 0");
  }

  @Test
  void anInterruptThatIsLeftByALongjmpIsOver() {
    enter(0x7_f000);
    enter(0x7_e000);
    contexts.interruptEnter(7, 0x100, 0x7_df00, false, true);
    enter(0x7_de00);
    enter(0x7_e000);
    assertThat(told).containsExactly("interrupt 7 at depth 2", "back from 7 at depth 1");
    contexts.interruptEnter(8, 0x100, 0x7_df00, false, true);
    enter(0x7_de00);
    assertThat(exit(0, 0x7_f008)).isZero();
    assertThat(told.subList(2, 4))
        .containsExactly("interrupt 8 at depth 2", "back from 8 at depth 1");
  }

  @Test
  void aLongjmpEndsTheFramesBelowOnTheStackWhereItGoesAndNoOthers() {
    enter(0x7_f000);
    enter(0x7_e000);
    enter(0x1_7ff0);
    enter(0x1_7f00);
    contexts.giveUpBelow(0x7_df00, 0x7_df00); // main's, below all of its frames
    assertThat(contexts.all()).extracting(Frames::size).containsExactly(2, 2);
    contexts.giveUpBelow(0x7_e800, 0x7_e800);
    assertThat(contexts.all()).extracting(Frames::size).containsExactly(1, 2);
    contexts.giveUpBelow(0x1_7f80, 0x1_7f80);
    assertThat(contexts.all()).extracting(Frames::size).containsExactly(1, 1);
    enter(0x1_7e00); // lower than the one that died, as behind arguments that were pushed
    assertThat(contexts.frames().size()).isEqualTo(2);
  }

  @Test
  void aLongjmpLeavesTheLastFrameOfAHandlerToItsExit() {
    enter(0x7_f000);
    contexts.interruptEnter(7, 0x100, 0x7_ef00, true, true);
    enter(0x7_ee00);
    contexts.giveUpBelow(0x7_ee80, 0x7_ee80);
    assertThat(contexts.frames().size()).isEqualTo(1);
    assertThat(contexts.isHandlerOver()).isFalse();
  }

  @Test
  void anInterruptRightBehindALongjmpIsApartFromTheFramesThatTheLongjmpLeft() {
    enter(0x7_f000);
    enter(0x7_e000);
    enter(0x7_d000);
    contexts.interruptEnter(7, 0x100, 0x7_ef00, false, true); // the outermost goes on alone
    enter(0x7_ee00);
    enter(0x7_d800);
    assertThat(contexts.current().frames.size()).isEqualTo(2);
    assertThat(exit(1, 0x7_d808)).isZero();
    assertThat(exit(0, 0x7_ee08)).isZero();
    contexts.interruptExit(0x100, 0x7_ef00);
    enter(0x7_ee00);
    assertThat(contexts.current().frames.size()).as("the two are dead").isEqualTo(2);
    assertThat(told).containsExactly("interrupt 7 at depth 3", "back from 7 at depth 0");
  }

  @Test
  void aLongjmpOutOfNestedInterruptsLeavesThoseAboveItsTargetAndNoOthers() {
    enter(0x7_f000);
    contexts.interruptEnter(1, 0x100, 0x7_ef00, false, true);
    enter(0x7_ee00);
    contexts.interruptEnter(2, 0x100, 0x7_ed00, false, true);
    enter(0x7_ec00);
    contexts.interruptEnter(3, 0x100, 0x7_eb00, false, true);
    enter(0x7_ea00);
    enter(0x7_ee00); // where the handler of 1 was entered: that one goes on, 2 and 3 are over
    assertThat(contexts.current().number).isEqualTo(1);
    assertThat(contexts.current().frames.size()).isEqualTo(1);
    assertThat(exit(0, 0x7_ee08)).isZero();
    contexts.interruptExit(0x100, 0x7_ef00);
    assertThat(exit(0, 0x7_f008)).isZero();
    assertThat(told)
        .containsExactly(
            "interrupt 1 at depth 1",
            "interrupt 2 at depth 1",
            "interrupt 3 at depth 1",
            "back from 3 at depth 1",
            "back from 2 at depth 1",
            "back from 1 at depth 0");
  }

  @Test
  void theTaskThatAnInterruptGoesBackToIsSwitchedToThereAndThen() {
    enter(0x7_f000);
    enter(0x1_7ff0);
    contexts.interruptEnter(7, 0x100, 0x1_7fe0, false, true);
    contexts.interruptExit(0x100, 0x7_ef00);
    contexts.interruptEnter(8, 0x100, 0x7_ef00, false, true);
    contexts.interruptExit(0x100, 0x1_7fe0);
    assertThat(told)
        .containsExactly(
            "started 1 at depth 0",
            "interrupt 7 at depth 1",
            "back from 7 at depth 0",
            "switched 0 at depth 1",
            "interrupt 8 at depth 1",
            "back from 8 at depth 0",
            "switched 1 at depth 1");
  }

  @Test
  void anInterruptIsOfTheTaskWhoseStackItInterruptsThoughNoCallOfItWasSeen() {
    enter(0x7_f000);
    contexts.interruptEnter(7, 0x100, 0x1_8000, false, true); // on an empty stack elsewhere
    contexts.interruptExit(0x100, 0x1_8000);
    enter(0x1_7ff0);
    contexts.interruptEnter(8, 0x100, 0x1_ffe0, false, true); // whose that is cannot be told
    contexts.interruptExit(0x100, 0x1_ffe0);
    enter(0x1_ffd0);
    assertThat(told)
        .containsExactly(
            "started 1 at depth 0",
            "interrupt 7 at depth 0",
            "back from 7 at depth 0",
            "interrupt 8 at depth 1",
            "back from 8 at depth 0",
            "started 2 at depth 0");
  }

  @Test
  void anInterruptWithoutEntriesIsSilentWhereItIsNotToBeTold() {
    enter(0x7_f000);
    contexts.interruptEnter(7, 0x100, 0x7_df00, false, false);
    contexts.interruptExit(0x100, 0x7_df00);
    assertThat(told).isEmpty();
    contexts.interruptEnter(7, 0x100, 0x7_df00, false, false);
    enter(0x7_de00);
    contexts.interruptExit(0x100, 0x7_df00);
    assertThat(told).containsExactly("interrupt 7 at depth 1", "back from 7 at depth 1");
  }

  @Test
  void aTaskThatIsSwitchedOffInsideOfItsInterruptGoesOnThere() {
    enter(0x7_f000);
    contexts.interruptEnter(7, 0x100, 0x7_df00, false, true);
    enter(0x7_de00);
    contexts.interruptExit(0x100, 0x1_8000); // back to another task, which is new
    enter(0x1_7ff0);
    assertThat(exit(0, 0x1_7ff8)).isEqualTo(1);
    assertThat(exit(0, 0x7_de08)).isZero();
    contexts.interruptExit(0x100, 0x7_df00);
    assertThat(contexts.current().isInterrupt()).isFalse();
    assertThat(told)
        .containsExactly(
            "interrupt 7 at depth 1",
            "started 1 at depth 0",
            "switched 0 at depth 1",
            "back from 7 at depth 0");
  }

  @Test
  void interruptsBeyondTheLimitEndOneByOne() {
    enter(0x7_f000);
    for (int i = 0; i < 2 * Contexts.INTERRUPTS_MOST; i++) {
      contexts.interruptEnter(i, 0x100, 0x7_df00, false, true);
    }
    for (int i = 0; i < 2 * Contexts.INTERRUPTS_MOST; i++) {
      contexts.interruptExit(0x100, 0x7_df00);
    }
    assertThat(contexts.current().isInterrupt()).isFalse();
    assertThat(told).hasSize(2 * Contexts.INTERRUPTS_MOST);
  }

  /** Some stacks of one array, calls and returns on any of them: every return finds its frame. */
  @Test
  void noReturnAddressIsLostWhicheverStackIsSwitchedTo() {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    long[][] slots = new long[8][64];
    int[] depths = new int[8];
    enter(0x7_f000); // on the stack of main, which has a frame that never returns
    for (int step = 0; step < 20_000; step++) {
      int at = random.nextInt(8);
      if (depths[at] > 0 && (depths[at] == 64 || random.nextBoolean())) {
        int depth = --depths[at];
        exit(depth % HANDLERS, slots[at][depth] + 8);
        assertThat(contexts.current().frames.size())
            .as("-Dretstack.seed=%d step %d", seed, step)
            .isEqualTo(depth);
      } else {
        int depth = depths[at]++;
        long above = depth == 0 ? 0x1_8000L + 0x8000L * at : slots[at][depth - 1];
        slots[at][depth] = above - 8L * (1 + random.nextInt(20));
        enter(slots[at][depth]);
      }
    }
  }
}
