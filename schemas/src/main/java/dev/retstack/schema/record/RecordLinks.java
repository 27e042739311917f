package dev.retstack.schema.record;

import java.util.Arrays;

/**
 * Finds {@linkplain RecordBatch#links how the records of a batch are linked}, if their codec does
 * not say it. It follows the ret_stack as the model of {@code packed} does ({@code
 * schemas/PACKED.md}), so both link the same records. Not safe for use by several threads at once.
 */
public final class RecordLinks {
  private static final int NUMBERS = 1 << RecordBatch.LINK_SITE_BITS;

  private final AddressIndex sites = new AddressIndex();
  private final AddressIndex functions = new AddressIndex();
  private int siteCount;
  private int functionCount;

  /** Indexes of the entries whose frames are open, outermost first. */
  private int[] frames = new int[64];

  private int top;

  /** Depth of the next entry, predicted from the last record. */
  private int next;

  /** Entries before this index are not linked to: records were lost since. */
  private int floor;

  /** True until a record shows where the program is: at first, and after a loss. */
  private boolean blind;

  /** Links all records of a batch. */
  public void fill(RecordBatch batch) {
    sites.clear();
    functions.clear();
    siteCount = 0;
    functionCount = 0;
    top = 0;
    next = 0;
    floor = 0;
    blind = true;
    int[] links = batch.links();
    for (int i = 0; i < batch.size(); i++) {
      links[i] =
          switch (batch.kind[i]) {
            case RecordBatch.ENTRY -> entry(batch, i);
            case RecordBatch.EXIT -> exit(batch, i);
            case RecordBatch.LOST -> {
              floor = i + 1;
              blind = true;
              yield RecordBatch.UNLINKED;
            }
            case RecordBatch.TASK, RecordBatch.INTERRUPT_ENTER, RecordBatch.INTERRUPT_EXIT -> {
              top = 0;
              next = 0;
              blind = true;
              yield RecordBatch.UNLINKED;
            }
            default -> RecordBatch.UNLINKED;
          };
    }
    batch.setLinked();
  }

  private int entry(RecordBatch batch, int i) {
    int depth = batch.depth[i];
    int dead = next - depth;
    if (dead != 0) {
      top = dead > 0 && dead <= top ? top - dead : 0;
    }
    int site = site(batch.fromPc[i]);
    int function = function(batch.selfPc[i]);
    if (top == frames.length) {
      frames = Arrays.copyOf(frames, 2 * top);
    }
    frames[top++] = i;
    next = depth + 1;
    boolean known = !blind && dead == 0 && site != 0 && function != 0;
    blind = false;
    return known ? function << RecordBatch.LINK_SITE_BITS | site : RecordBatch.UNLINKED;
  }

  private int exit(RecordBatch batch, int i) {
    int depth = batch.depth[i];
    int dead = next - 1 - depth;
    if (dead != 0) {
      top = dead > 0 && dead < top ? top - dead : 0;
    }
    next = depth;
    blind = false;
    if (top == 0) {
      function(batch.selfPc[i]);
      site(batch.fromPc[i]);
      return RecordBatch.UNLINKED;
    }
    int entry = frames[--top];
    boolean agrees =
        dead == 0
            && entry >= floor
            && batch.depth[entry] == depth
            && batch.selfPc[entry] == batch.selfPc[i]
            && batch.fromPc[entry] == batch.fromPc[i]
            && batch.retP[entry] == batch.retP[i]
            && batch.fp[entry] == batch.fp[i];
    return agrees ? entry : RecordBatch.UNLINKED;
  }

  /** Number of a site, 0 where there are too many. */
  private int site(long fromPc) {
    int number = sites.get(fromPc);
    if (number == 0 && siteCount < NUMBERS - 2) {
      number = ++siteCount;
      sites.put(fromPc, number);
    }
    return number;
  }

  private int function(long selfPc) {
    int number = functions.get(selfPc);
    if (number == 0 && functionCount < NUMBERS - 1) {
      number = ++functionCount;
      functions.put(selfPc, number);
    }
    return number;
  }
}
