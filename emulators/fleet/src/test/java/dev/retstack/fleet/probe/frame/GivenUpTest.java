package dev.retstack.fleet.probe.frame;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.landing.LandingPage;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** Frames that were taken for dead, without a core. */
public class GivenUpTest {
  /** Memory of a guest: handlers by the slots that hold them, as 1,000 plus the place. */
  public static final class Words implements GivenUp.Slots {
    final Map<Long, Long> words = new HashMap<>();

    @Override
    public boolean holds(long slot, int place) {
      return words.getOrDefault(slot, 0L) == 1_000L + place;
    }

    @Override
    public void restore(long slot, int place, long fromPc) {
      if (holds(slot, place)) {
        words.put(slot, fromPc);
      }
    }

    @Override
    public long find(int place, long low, long high) {
      for (long at = high - 8; at >= low; at -= 8) {
        if (holds(at, place)) {
          return at;
        }
      }
      return 0;
    }
  }

  /** Registers that foretell nothing. */
  public static final class Nothing implements GivenUp.Arrival {
    @Override
    public long[] exits() {
      return new long[0];
    }

    @Override
    public boolean foretells(int convention, long selfPc, long retP) {
      return false;
    }

    @Override
    public boolean isFrom(long selfPc) {
      return false;
    }
  }

  private final Words memory = new Words();
  private final GivenUp givenUp = new GivenUp(memory);

  private void add(long slot, int place) {
    memory.words.put(slot, 1_000L + place);
    givenUp.add(new GivenUp.Frame(1, 7 * slot, slot, 0, slot, place, 0, 0));
  }

  private long found(int place, long above) {
    GivenUp.Frame frame = givenUp.find(place, above, new Nothing());
    return frame == null ? 0 : frame.retP();
  }

  @Test
  void theNearestSlotThatStillHoldsTheHandlerReturns() {
    add(100, 3);
    add(200, 3);
    add(300, 3);
    add(250, 4);
    assertThat(found(3, 260)).isEqualTo(200);
    memory.words.put(200L, 5L);
    assertThat(found(3, 260)).isEqualTo(100);
    memory.words.put(100L, 5L);
    assertThat(found(3, 260)).isEqualTo(200); // better than none
    assertThat(found(3, 100)).isZero();
  }

  @Test
  void manyThatWereAbandonedKeepMemoryBoundedAndEveryReturnAddressIsKeptOrPutBack() {
    int all = Integer.getInteger("retstack.abandoned", 40_000);
    int most = 0;
    for (int i = 1; i <= all; i++) {
      add(16L * i, i % 64);
      most = Math.max(most, givenUp.size());
    }
    assertThat(most).isLessThanOrEqualTo(GivenUp.MOST);
    assertThat(givenUp.size()).isGreaterThanOrEqualTo(GivenUp.MOST / 2);
    assertThat(givenUp.abandoned()).isEqualTo(all - givenUp.size());
    for (int i = 1; i <= all; i++) {
      boolean isKept = found(i % 64, 16L * i + 1) == 16L * i;
      boolean isBack = memory.words.get(16L * i) == 7 * 16L * i;
      if (isKept == isBack) {
        throw new AssertionError("slot of " + i + ": kept " + isKept + ", put back " + isBack);
      }
    }
  }

  /** A function that saves the register that was hijacked, so far below where it was entered. */
  private void addSaving(long retP, long below, int place) {
    memory.words.put(retP - below, 1_000L + place);
    givenUp.add(new GivenUp.Frame(1, 7 * retP, retP, 0, 0, place, 0, 0));
  }

  @Test
  void aReturnAddressThatWasInARegisterIsPutBackWhereTheFunctionHasSavedIt() {
    int all = 3 * GivenUp.MOST;
    for (int i = 1; i <= all; i++) {
      addSaving(64L * i, 8 + 8L * (i % 6), i % 3);
    }
    assertThat(givenUp.abandoned()).isEqualTo(all - givenUp.size()).isPositive();
    for (int i = 1; i <= all; i++) {
      boolean isKept = found(i % 3, 64L * i + 1) == 64L * i;
      boolean isBack = memory.words.get(64L * i - 8 - 8L * (i % 6)) == 7 * 64L * i;
      assertThat(isBack).as("frame %s", i).isNotEqualTo(isKept);
    }
  }

  @Test
  void aWordOfAnotherFrameIsNotTakenForIt() {
    givenUp.among(() -> new long[] {96, 4096});
    memory.words.put(88L, 1_005L); // of the open one at 96
    givenUp.add(new GivenUp.Frame(1, 7, 128, 0, 0, 5, 0, 0));
    for (int i = 1_000; i < 1_000 + 2 * GivenUp.MOST; i++) {
      add(16L * i, 1);
    }
    assertThat(memory.words.get(88L)).isEqualTo(1_005L);
  }

  private void addUp(long slot, long up) {
    givenUp.add(new GivenUp.Frame(1, 7 * slot, slot, up, slot, 3, 0, 0));
  }

  @Test
  void ofThoseThatLeaveTheStackPointerAtOnePlaceTheLatestIsAlive() {
    addUp(100, 8);
    addUp(92, 16);
    assertThat(givenUp.size()).isEqualTo(1);
    assertThat(givenUp.leaving(3, 108).retP()).isEqualTo(92);
    assertThat(givenUp.leaving(4, 108)).isNull();

    addUp(92, 32); // its slot was hijacked again
    addUp(100, 8);
    assertThat(givenUp.leaving(3, 108).retP()).isEqualTo(100);
    assertThat(givenUp.leaving(3, 124).retP()).isEqualTo(92);

    addUp(124, 0); // of this it is not known where it leaves it
    assertThat(givenUp.size()).isEqualTo(3);
  }

  @Test
  void oneSlotIsThatOfSeveralWhoReturnElsewhere() {
    add(100, 3);
    add(100, 3 + LandingPage.SLOTS);
    assertThat(givenUp.size()).isEqualTo(2);
    assertThat(found(3, 101)).isEqualTo(100); // what its slot held may have been copied
    assertThat(found(3 + LandingPage.SLOTS, 101)).isEqualTo(100);
  }

  @Test
  void whatReturnsAtAHandlerSlotIsKeptThoughItWasOverwritten() {
    for (int i = 1; i <= GivenUp.MOST / 2; i++) {
      add(16L * i, 1);
      memory.words.put(16L * i, 5L);
    }
    assertThat(givenUp.size()).isEqualTo(GivenUp.MOST / 2);
    assertThat(givenUp.abandoned()).isZero();
  }

  @Test
  void whatWasOverwrittenGoesFirst() {
    int home = LandingPage.SLOTS + 1;
    for (int i = 1; i < GivenUp.MOST; i++) {
      add(16L * i, home);
      if (i % 2 == 0) {
        memory.words.put(16L * i, 5L);
      }
    }
    add(8, home);
    for (int i = 1; i < GivenUp.MOST; i += 2) {
      assertThat(found(home, 16L * i + 1)).isEqualTo(16L * i);
    }
  }
}
