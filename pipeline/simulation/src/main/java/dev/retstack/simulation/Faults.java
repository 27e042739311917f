package dev.retstack.simulation;

import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import dev.retstack.simulation.model.RecordLog;
import dev.retstack.simulation.model.Workload;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;

/**
 * What goes wrong between a core and its reader. Chances are in thousandths. {@link Workload} has
 * the faults of the core itself: a full ret_stack and a wrong clock.
 *
 * @param seed of the faults alone
 * @param dropRecords chance per record that a run of records is overwritten in the ring
 * @param dropChunk chance per chunk that it never comes
 * @param duplicate chance per chunk that one comes again behind it
 * @param late chance per chunk that it comes behind later ones
 * @param damage chance per chunk that it is changed or cut off on its way
 * @param crash chance per step that a consumer dies
 * @param rebalance chance per step that a partition gets another owner
 * @param cut whether the cores die: their streams stop in the middle
 */
public record Faults(
    long seed,
    int dropRecords,
    int dropChunk,
    int duplicate,
    int late,
    int damage,
    int crash,
    int rebalance,
    boolean cut) {

  /** Records overwritten at a time, at most. */
  private static final int RUN_MAX = 20;

  /** Chunks that one may come too late by. */
  private static final int LATE_MAX = 4;

  /** Nothing goes wrong. */
  public static Faults none(long seed) {
    return new Faults(seed, 0, 0, 0, 0, 0, 0, 0, false);
  }

  /** Any faults a seed may stand for; each of them is absent half of the time. */
  static Faults any(SplittableRandom random) {
    return new Faults(
        random.nextLong(),
        some(random, 20),
        some(random, 300),
        some(random, 300),
        some(random, 200),
        some(random, 200),
        some(random, 60),
        some(random, 60),
        random.nextInt(4) == 0);
  }

  private static int some(SplittableRandom random, int most) {
    return random.nextBoolean() ? random.nextInt(most) : 0;
  }

  /** These faults, where chunks also come again. */
  Faults withDuplicates(int chance) {
    return new Faults(seed, dropRecords, dropChunk, chance, late, damage, crash, rebalance, cut);
  }

  /** A chunk arrives, by its number, damaged or not. */
  record Arrival(int chunk, Optional<Damage> damage) {}

  /** The chunks that a core sends: some of its records are overwritten, and it may die. */
  List<ModelChunk> send(ModelCore core, int largest) {
    SplittableRandom random = new SplittableRandom(seed ^ core.key().hashCode());
    List<ModelChunk> sent = core.cut(overwrite(core.program().records(), random), random, largest);
    return cut ? sent.subList(0, random.nextInt(sent.size() + 1)) : sent;
  }

  /** In which order chunks arrive of those that were sent. */
  List<Arrival> arrivals(int sent, SplittableRandom random) {
    List<Arrival> come = new ArrayList<>();
    List<Integer> places = new ArrayList<>();
    for (int chunk = 0; chunk < sent; chunk++) {
      if (hits(random, dropChunk)) {
        continue;
      }
      Optional<Damage> damage =
          hits(random, this.damage) ? Optional.of(Damage.any(random)) : Optional.empty();
      int behind = hits(random, late) ? 1 + random.nextInt(LATE_MAX) : 0;
      add(come, places, new Arrival(chunk, damage), chunk + behind);
      if (hits(random, duplicate)) {
        Arrival again = come.get(random.nextInt(come.size()));
        add(come, places, new Arrival(again.chunk(), Optional.empty()), chunk);
      }
    }
    return come;
  }

  /** Puts an arrival behind all whose place is not later. */
  private static void add(List<Arrival> come, List<Integer> places, Arrival arrival, int place) {
    int at = come.size();
    while (at > 0 && places.get(at - 1) > place) {
      at--;
    }
    come.add(at, arrival);
    places.add(at, place);
  }

  /** What comes of a core's records, whole chunks all, and how much is known to be missing. */
  record Delivery(List<ModelChunk> chunks, long lost) {}

  /** Lets the records of a core pass through the faults, but for damage on the wire. */
  Delivery deliver(ModelCore core, int largest) {
    SplittableRandom random = new SplittableRandom(seed ^ core.key().core().hashCode());
    List<ModelChunk> sent = send(core, largest);
    List<ModelChunk> come = new ArrayList<>();
    Expected expected = new Expected();
    for (Arrival arrival : arrivals(sent.size(), random)) {
      if (arrival.damage().isEmpty()) {
        come.add(sent.get(arrival.chunk()));
        expected.take(come.getLast());
      }
    }
    return new Delivery(come, expected.lost());
  }

  private List<long[]> overwrite(List<long[]> records, SplittableRandom random) {
    List<long[]> kept = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (hits(random, dropRecords)) {
        int run = Math.min(1 + random.nextInt(RUN_MAX), records.size() - i);
        RecordLog.lost(kept, records, i, i + run);
        i += run - 1;
      } else {
        kept.add(records.get(i));
      }
    }
    return kept;
  }

  static boolean hits(SplittableRandom random, int thousandths) {
    return random.nextInt(1000) < thousandths;
  }
}
