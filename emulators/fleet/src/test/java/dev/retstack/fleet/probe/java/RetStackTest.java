package dev.retstack.fleet.probe.java;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class RetStackTest {
  private static final int HANDLERS = 4;

  private static RetStack stack(long... slots) {
    RetStack stack = new RetStack(1_000, HANDLERS, (_, _) -> 0);
    for (long slot : slots) {
      stack.push(slot + 1, slot + 2, slot, false, 0, true);
    }
    return stack;
  }

  @Test
  void keepsWhatWasPushedBeyondItsFirstCapacity() {
    RetStack stack = new RetStack(1_000, HANDLERS, (_, _) -> 0);
    for (int i = 0; i < 1_000; i++) {
      assertThat(stack.isFull()).isFalse();
      assertThat(stack.push(i, 2L * i, 5_000 - i, false, i % 2, true)).isEqualTo(i);
    }
    assertThat(stack.isFull()).isTrue();
    assertThat(stack.selfPc(999)).isEqualTo(999);
    assertThat(stack.fromPc(999)).isEqualTo(1_998);
    assertThat(stack.retP(999)).isEqualTo(4_001);
    assertThat(stack.convention(999)).isEqualTo(1);
    assertThat(stack.place(999)).isEqualTo(999 % HANDLERS);
  }

  @Test
  void theHandlerSlotSaysWhichFrameReturns() {
    RetStack stack = stack(90, 80, 70);
    assertThat(stack.find(2, 71)).isEqualTo(2);
    assertThat(stack.find(1, 81)).isEqualTo(1);
    assertThat(stack.find(0, 91)).isEqualTo(0);
  }

  @Test
  void ofTwoFramesOfOneSlotTheOneThatTheStackPointerPointsAtReturns() {
    RetStack stack = stack(90, 80, 70, 60, 50);
    assertThat(stack.find(0, 51)).isEqualTo(4);
    assertThat(stack.find(0, 91)).isZero(); // 1-4 were left by a longjmp
  }

  @Test
  void aLongChainOfTailCallsReturnsFromItsTop() {
    RetStack stack = new RetStack(100, HANDLERS, (_, _) -> 0);
    stack.push(1, 1, 90, false, 0, true);
    for (int i = 1; i <= 4; i++) {
      stack.push(1, 1, 50, true, 0, true); // on aarch64 the first frame of the chain was smaller
    }
    assertThat(stack.find(0, 91)).isEqualTo(4);
  }

  @Test
  void aFrameThatGaveWayToATailCallIsNotTheOneThatReturns() {
    RetStack stack = stack(60);
    stack.push(1, 1, 80, true, 0, true); // a smaller frame, on aarch64 with a higher slot
    stack.push(1, 1, 70, false, 0, true);
    stack.push(1, 1, 55, false, 0, true);
    stack.push(1, 1, 50, false, 0, true);
    assertThat(stack.find(0, 65)).isEqualTo(4);
    stack.truncate(1);
    assertThat(stack.find(0, 91)).isZero();
  }

  @Test
  void aFrameThatWasGivenUpTooEarlyIsStillFound() {
    RetStack stack = stack(90, 80, 70);
    stack.truncate(1);
    assertThat(stack.find(2, 71)).isEqualTo(2);
    assertThat(stack.find(3, 71)).isEqualTo(-1);
  }

  @Test
  void framesUnderANewSlotAreDead() {
    RetStack stack = stack(90, 80, 70);
    assertThat(stack.below(60)).isEqualTo(3);
    assertThat(stack.below(70)).isEqualTo(2);
    assertThat(stack.below(-1)).isZero(); // the highest address: slots are unsigned
  }

  @Test
  void theCallersSlotTellsWhichFramesAreDead() {
    RetStack stack = stack(90, 80, 70);
    assertThat(stack.callers(75)).isZero();
    assertThat(stack.callers(80)).isEqualTo(2);
  }

  @Test
  void aFrameThatItsCalleesDoNotSeeKeepsTheCallerFromBeingTold() {
    RetStack stack = new RetStack(10, 4, (_, _) -> 0);
    stack.push(1, 1, 100, false, 0, true);
    stack.push(1, 1, 90, false, 0, false);
    assertThat(stack.callers(100)).isZero();
    stack.truncate(1);
    stack.push(1, 1, 90, false, 0, true);
    assertThat(stack.callers(100)).isEqualTo(1);
  }
}
