package dev.retstack.answers.history;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.history.History.Counts;
import dev.retstack.answers.history.History.Levels;
import dev.retstack.answers.history.History.Past;
import dev.retstack.answers.history.History.Slot;
import dev.retstack.schema.PartHistory;
import dev.retstack.schema.avro.AvroSource;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Random pasts of members whose samples come late, twice, or after their clock went back. */
class HistoryTest {
  private static final long START = 1_700_000_000_123L;
  private static final int S = History.SLOT_MILLIS;

  static LongStream seeds() {
    return LongStream.range(0, 200);
  }

  /** A member and what it counted, to be compared with what it tells. */
  private static final class Member {
    private final SplittableRandom random;
    private final History history;
    private final long began;
    private long now;
    private long counted;

    Member(long seed, long began) {
      this.random = new SplittableRandom(seed);
      this.began = began;
      this.now = began;
      this.history = new History(began);
    }

    /** Samples at about their turns, until a time. */
    void run(long until) {
      while (now < until) {
        now = Math.min(until, now + (random.nextInt(10) == 0 ? 0 : random.nextLong(3L * S)));
        counted += random.nextInt(4) == 0 ? 0 : random.nextLong(1_000_000_000);
        long told = random.nextInt(10) == 0 ? now - random.nextLong(S) : now;
        history.add(
            Math.max(told, began),
            new Counts(counted, counted / 3, counted * 7),
            new Levels(random.nextInt(5), random.nextInt(50), random.nextInt(50)));
      }
    }

    /** Ends the slots before. */
    Past told() {
      history.add(now + S, new Counts(counted, counted / 3, counted * 7), new Levels(4, 9, 2));
      return history.window(now + S);
    }
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void slotsAddUpToWhatWasCountedAndHaveNoGaps(long seed) {
    Member member = new Member(seed, START + seed);
    member.run(START + 100L * S);
    List<Slot> slots = member.told().slots();
    assertThat(slots.stream().mapToLong(slot -> slot.counts().records()).sum())
        .isEqualTo(member.counted);
    assertThat(slots.stream().mapToLong(slot -> slot.counts().checkpointBytes()).sum())
        .isEqualTo(member.counted / 3);
    assertThat(slots.stream().mapToLong(slot -> slot.counts().checkpointNanos()).sum())
        .isEqualTo(member.counted * 7);
    assertThat(slots)
        .allSatisfy(slot -> assertThat(slot.counts().records()).isNotNegative())
        .extracting(Slot::number)
        .containsExactlyElementsOf(
            LongStream.rangeClosed(slots.getFirst().number(), slots.getLast().number())
                .boxed()
                .toList());
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void thePastIsBoundedAndItsEndStays(long seed) {
    Member member = new Member(seed, START);
    member.run(START + 1_000L * S);
    Past told = member.told();
    assertThat(told.slots()).hasSize(History.SLOTS);
    assertThat(told.slots().getLast().number()).isEqualTo(told.millis() / S - 1);
    History sleeper = new History(START);
    sleeper.add(START + 1_000_000L * S, new Counts(5, 5, 5), Levels.NONE);
    assertThat(sleeper.window(START).slots()).hasSize(History.SLOTS);
  }

  @ParameterizedTest
  @MethodSource("seeds")
  void membersWhoseClocksDifferAddUpSlotBySlot(long seed) {
    List<Past> told = new ArrayList<>();
    long counted = 0;
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 3; i++) {
      long ahead = random.nextLong(-20, 20) * S * (i == 0 ? 0 : 1);
      Member member = new Member(seed * 3 + i, START + ahead);
      member.run(START + ahead + 40L * S);
      told.add(member.told());
      counted += member.counted;
    }
    List<Slot> slots = History.merge(told);
    assertThat(slots.stream().mapToLong(slot -> slot.counts().records()).sum()).isEqualTo(counted);
    assertThat(slots)
        .hasSameSizeAs(told.getFirst().slots())
        .allSatisfy(slot -> assertThat(slot.members()).isEqualTo(3));
  }

  @Test
  void aLateMemberMakesNoDipAndANewOneNoNegativeRate() {
    History early = new History(START);
    History late = new History(START);
    for (int i = 1; i <= 4; i++) {
      early.add(START + (long) i * S, new Counts(10L * i, 0, 0), new Levels(1, 1, 0));
    }
    late.add(START + (long) S, new Counts(10, 0, 0), new Levels(1, -1, 0));
    late.add(START + 2L * S, new Counts(4, 0, 0), new Levels(1, 2, 0));
    long now = START + 4L * S;
    List<Slot> slots =
        History.merge(List.of(early.window(now), late.window(now), new History(now).window(now)));
    assertThat(slots).hasSize(2).allSatisfy(slot -> assertThat(slot.members()).isEqualTo(2));
    assertThat(slots.getFirst().levels().lag()).as("that of one is not known").isNegative();
    assertThat(slots.getLast().counts().records()).isBetween(10L, 20L);
  }

  @Test
  void itIsReadAsItWasWrittenAndNoLongerThanAMemberKeeps() throws Exception {
    Member member = new Member(1, START);
    member.run(START + 9L * S);
    Past told = member.told();
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    told.written().writeTo(bytes);
    PartHistory read = AvroSource.readAll(new PartHistory(), bytes.toByteArray());
    assertThat(Past.of(read)).isEqualTo(told);
    read.setSlots(Collections.nCopies(History.SLOTS + 1, read.getSlots().getFirst()));
    assertThatThrownBy(() -> Past.of(read))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("slots");
  }
}
