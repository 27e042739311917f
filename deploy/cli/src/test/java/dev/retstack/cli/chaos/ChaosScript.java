package dev.retstack.cli.chaos;

import dev.retstack.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.IntStream;

/**
 * The faults of a run, made of a seed alone: whoever has the seed has the run.
 *
 * @param seed of {@code -Dretstack.seed}
 */
record ChaosScript(long seed, List<Fault> faults) {
  /** What is done to a victim. */
  enum Kind {
    /** {@code kill -9}, whatever it does. */
    KILL,
    /** {@code kill -9} as soon as it has written a checkpoint and not committed it. */
    KILL_IN_CHECKPOINT,
    /** Stopped in order. */
    STOP,
    /** Stopped in order where it runs, started where it does not. */
    COME_OR_GO
  }

  /**
   * A fault.
   *
   * @param pauseMillis from the end of the last one
   * @param victims who is hit, at once; from 1
   * @param awayMillis until they are started again
   */
  record Fault(int number, Kind kind, int pauseMillis, List<Integer> victims, int awayMillis) {}

  ChaosScript {
    faults = List.copyOf(faults);
  }

  /** The seed of this run: given, or fresh. */
  static long freshSeed() {
    return Seeds.fresh();
  }

  /** Kills of members: one in four hits two at once, one in three is aimed at a checkpoint. */
  static ChaosScript ofMembers(long seed, int count) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Fault> faults = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      int victims = random.nextInt(4) == 0 ? 2 : 1;
      Kind kind = random.nextInt(3) == 0 ? Kind.KILL_IN_CHECKPOINT : Kind.KILL;
      faults.add(
          new Fault(number, kind, random.nextInt(3_000), some(random, victims, Job.MEMBERS), 0));
    }
    return new ChaosScript(seed, faults);
  }

  /**
   * Deaths of brokers, every third of them in order, which moves its leaderships first; in the end
   * all of them at once.
   *
   * @param allAwayMillis how long all are away
   */
  static ChaosScript ofBrokers(long seed, int count, int allAwayMillis) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Fault> faults = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      Kind kind = number % 3 == 2 ? Kind.STOP : Kind.KILL;
      int pause = random.nextInt(3_000);
      List<Integer> victim = some(random, 1, BrokerCluster.BROKERS);
      faults.add(new Fault(number, kind, pause, victim, random.nextInt(8_000)));
    }
    faults.add(new Fault(count + 1, Kind.KILL, 1_000, BrokerCluster.ids(), allAwayMillis));
    return new ChaosScript(seed, faults);
  }

  /**
   * Members come and go in order.
   *
   * @param everyMillis from one to the next
   * @param members that there are at most
   */
  static ChaosScript ofComersAndGoers(long seed, int count, int everyMillis, int members) {
    SplittableRandom random = new SplittableRandom(seed);
    List<Fault> faults = new ArrayList<>();
    for (int number = 1; number <= count; number++) {
      List<Integer> who = some(random, 1, members);
      faults.add(new Fault(number, Kind.COME_OR_GO, everyMillis, who, 0));
    }
    return new ChaosScript(seed, faults);
  }

  private static List<Integer> some(SplittableRandom random, int count, int of) {
    List<Integer> left = new ArrayList<>(IntStream.rangeClosed(1, of).boxed().toList());
    List<Integer> taken = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      taken.add(left.remove(/* index */ random.nextInt(left.size())));
    }
    return List.copyOf(taken);
  }
}
