package dev.retstack.simulation.model;

import dev.retstack.graph.input.ImageTraits;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;

/**
 * The capture side by the book: a ret_stack, hijacked slots, and the records of TraceRecord.avsc.
 * Frames that died without a return are found as the contract says: by the handler slot that a
 * return address names, else by the address of the slot.
 */
public final class ModelTracer {
  static final int HANDLERS = 256;
  static final long HANDLER_START = 0xffff_ffff_8000_0000L;
  static final ImageTraits TRAITS =
      new ImageTraits(true, true, HANDLER_START, HANDLER_START + 16L * HANDLERS);

  /** A hijacked return. */
  private record Frame(long selfPc, long fromPc, long retP, long fp, long time) {}

  /** What an exit finds wrong. */
  enum Defect {
    NONE,
    FRAME_POINTER,
    SLOT,
    RETURN_ADDRESS
  }

  private final List<Frame> retStack = new ArrayList<>();
  private final int limit;
  private final RecordLog log;

  /**
   * A tracer that has seen nothing.
   *
   * @param limit frames of ret_stack
   */
  ModelTracer(int limit, RecordLog log) {
    this.limit = limit;
    this.log = log;
  }

  /**
   * A counting function was called; returns what now stands in the slot: a handler, or what stood
   * there where ret_stack is full.
   */
  long entry(long time, long selfPc, long fromPc, long retP, long fp) {
    int handler = handler(fromPc);
    int top = retStack.size() - 1;
    if (handler >= 0) {
      while (top % HANDLERS != handler || retStack.get(top).retP != retP) {
        top--;
      }
    } else {
      while (top >= 0 && Long.compareUnsigned(retStack.get(top).retP, retP) <= 0) {
        top--;
      }
    }
    truncate(top + 1);
    if (retStack.size() == limit) {
      log.overruns++;
      return fromPc;
    }
    int depth = retStack.size();
    retStack.add(new Frame(selfPc, fromPc, retP, fp, time));
    add(RecordBatch.ENTRY, time, depth, selfPc, fromPc, retP, fp);
    return HANDLER_START + 16L * (depth % HANDLERS);
  }

  /**
   * A return reached a handler slot; returns the address restored.
   *
   * @param retP slot as the stack pointer implies it
   */
  long exit(long time, long target, long retP, Defect defect) {
    int handler = handler(target);
    int top = retStack.size() - 1;
    while (top % HANDLERS != handler || retStack.get(top).retP != retP) {
      top--;
    }
    truncate(top + 1);
    Frame f = retStack.remove(top);
    add(
        RecordBatch.EXIT,
        time,
        top,
        f.selfPc,
        defect == Defect.RETURN_ADDRESS ? f.fromPc ^ 0x40 : f.fromPc,
        defect == Defect.SLOT ? retP + 16 : retP,
        defect == Defect.FRAME_POINTER ? f.fp ^ 0x4141 : f.fp);
    return f.fromPc;
  }

  /** Adds the frames to a keyframe, in which the stack's head stands last. */
  void addTo(Keyframe.Builder keyframe) {
    int size = retStack.size();
    for (int depth = size - keyframe.room(size); depth < size; depth++) {
      Frame f = retStack.get(depth);
      keyframe.frame(depth, f.time, f.selfPc, f.fromPc, f.retP, f.fp);
    }
  }

  /** Frames in ret_stack. */
  int frames() {
    return retStack.size();
  }

  public static boolean isHandler(long address) {
    return handler(address) >= 0;
  }

  private static int handler(long address) {
    return TRAITS.isHandler(address) ? (int) ((address - HANDLER_START) / 16) : -1;
  }

  private void truncate(int size) {
    while (retStack.size() > size) {
      retStack.remove(retStack.size() - 1);
    }
  }

  private void add(int kind, long time, int depth, long self, long from, long retP, long fp) {
    log.add(kind, time, depth, self, from, retP, fp);
    log.frames = retStack.size();
  }
}
