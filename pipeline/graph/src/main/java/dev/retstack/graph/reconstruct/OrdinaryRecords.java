package dev.retstack.graph.reconstruct;

import dev.retstack.schema.codec.RecordBatch;
import it.unimi.dsi.fastutil.ints.IntArrayList;

/**
 * The records that nearly all are: an entry right above the topmost frame, which is open, and an
 * exit of that frame that agrees with its entry.
 */
final class OrdinaryRecords {
  /** Frames that one run of links leaves open, usually. */
  private static final int OPENED_KEPT = 16;

  private final TaskStack stack;
  private final ImageTraits traits;
  private final FrameRoom frames;
  private final GraphListener listener;
  private final IntArrayList opened = new IntArrayList(0);
  private int guestSize;
  private int returned;

  OrdinaryRecords(TaskStack stack, ImageTraits traits, FrameRoom frames, GraphListener listener) {
    this.stack = stack;
    this.traits = traits;
    this.frames = frames;
    this.listener = listener;
  }

  /** Frames in the guest's ret_stack after {@link #take}. */
  int guestSize() {
    return guestSize;
  }

  /** How many of the records taken were exits. */
  int returned() {
    return returned;
  }

  /**
   * Takes those from {@code first} on.
   *
   * @param time no record may be earlier
   * @param size frames in the guest's ret_stack
   * @return index of the first record that is another, or the number of records
   */
  int take(RecordBatch batch, int first, long time, int size) {
    final byte[] kinds = batch.kind;
    final long[] times = batch.time;
    final int[] depths = batch.depth;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final int[] links = batch.links();
    final boolean linked = batch.isLinked();
    final long fpMask = traits.fpCheck() ? -1 : 0;
    final long retPMask = traits.retpCheck() ? -1 : 0;
    final int count = batch.size();
    final int limit = frames.limit();
    guestSize = size;
    long now = time;
    int next = nextDepth();
    int exits = 0;
    int i = first;
    for (; i < count; i++) {
      long at = times[i];
      int depth = depths[i];
      int kind = kinds[i];
      if (at < now || next < 0) {
        break;
      }
      if (kind == RecordBatch.ENTRY) {
        if (depth != next || depth >= limit || stack.isFull() || traits.isHandler(fromPcs[i])) {
          break;
        }
        int parent = stack.size() - 1;
        if (linked && links[i] >= 0) {
          int room = Math.min(limit - depth, stack.room());
          int end = listener.linked(batch, i, parent, room, opened);
          if (end > i) {
            exits += (end - i - opened.size()) / 2;
            guestSize = stack.pushAll(batch, opened, guestSize);
            opened.clear();
            if (opened.elements().length > OPENED_KEPT) {
              opened.trim(); // a stack keeps no more than the accounts know
            }
            now = times[end - 1];
            next = guestSize;
            i = end - 1;
            continue;
          }
        }
        int slot = stack.push(depth, parent, selfPcs[i], fromPcs[i], retPs[i], fps[i]);
        guestSize = depth + 1;
        next = depth + 1;
        listener.entered(slot, parent, parent, selfPcs[i], at);
      } else {
        int slot = stack.size() - 1;
        if (kind != RecordBatch.EXIT
            || depth != next - 1
            || slot < 0
            || !stack.agrees(slot, selfPcs[i], fromPcs[i], retPs[i], retPMask, fps[i], fpMask)) {
          break;
        }
        exits++;
        listener.finished(slot, stack.parent(slot), at, Ending.RETURNED);
        stack.popTo(slot);
        guestSize = depth;
        next = nextDepth();
      }
      now = at;
    }
    returned = exits;
    return i;
  }

  /** Depth of the next frame where the topmost one is open and known, or none is; else below 0. */
  private int nextDepth() {
    boolean empty = guestSize == 0 && stack.size() == 0;
    return empty || stack.openDepth() == guestSize - 1 ? guestSize : TaskReconstructor.UNCERTAIN;
  }
}
