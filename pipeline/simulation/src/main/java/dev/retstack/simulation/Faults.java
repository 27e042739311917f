package dev.retstack.simulation;

import dev.retstack.schema.codec.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What goes wrong between a core and its reader. Chances are in thousandths.
 *
 * @param seed of the faults alone
 * @param dropRecords chance per record that a run of records is overwritten in the ring
 * @param dropChunk chance per chunk that it never comes
 * @param duplicate chance per chunk that it comes again later
 * @param cut whether the stream stops in the middle
 */
record Faults(long seed, int dropRecords, int dropChunk, int duplicate, boolean cut) {

  /** Any faults a seed may stand for. */
  static Faults any(SplittableRandom random) {
    return new Faults(
        random.nextLong(),
        random.nextBoolean() ? random.nextInt(20) : 0,
        random.nextBoolean() ? random.nextInt(300) : 0,
        random.nextBoolean() ? random.nextInt(300) : 0,
        random.nextInt(4) == 0);
  }

  /** What comes of a core's records, and how much of them is known to be missing. */
  record Delivery(List<ModelChunk> chunks, long lost) {}

  /** Lets the records of a core pass through the faults. */
  Delivery deliver(ModelCore core, int largest) {
    SplittableRandom random = new SplittableRandom(seed ^ core.key().hashCode());
    List<ModelChunk> sent = core.cut(overwrite(core.program().records(), random), random, largest);
    if (cut) {
      sent = sent.subList(0, random.nextInt(sent.size() + 1));
    }
    List<ModelChunk> come = new ArrayList<>();
    long lost = 0;
    long missing = 0;
    for (ModelChunk chunk : sent) {
      if (hits(random, dropChunk)) {
        missing += chunk.batch().size();
        continue;
      }
      lost += missing + chunk.meta().lostBefore() + markedLost(chunk.batch());
      missing = 0;
      come.add(chunk);
      if (hits(random, duplicate)) {
        come.add(come.get(random.nextInt(come.size())));
      }
    }
    return new Delivery(come, lost);
  }

  private List<long[]> overwrite(List<long[]> records, SplittableRandom random) {
    List<long[]> kept = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (hits(random, dropRecords)) {
        int run = Math.min(1 + random.nextInt(20), records.size() - i);
        long time = records.get(i + run - 1)[1];
        kept.add(new long[] {RecordBatch.LOST, time, 0, run, 0, 0, 0});
        i += run - 1;
      } else {
        kept.add(records.get(i));
      }
    }
    return kept;
  }

  private static long markedLost(RecordBatch batch) {
    long lost = 0;
    for (int i = 0; i < batch.size(); i++) {
      lost += batch.kind[i] == RecordBatch.LOST ? batch.selfPc[i] : 0;
    }
    return lost;
  }

  private static boolean hits(SplittableRandom random, int thousandths) {
    return random.nextInt(1000) < thousandths;
  }
}
