package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;
import static dev.retstack.schema.codec.Packed2Model.*;
import static dev.retstack.schema.codec.Packed2Point.*;

/**
 * Mirror of {@link Packed2EncoderLoop}: the part of the decoder that is run for nearly all records.
 */
final class Packed2DecoderLoop {
  private final Packed2Model model;
  private final Packed2Source source;

  Packed2DecoderLoop(Packed2Model model, Packed2Source source) {
    this.model = model;
    this.source = source;
  }

  /**
   * Unpacks records as long as they are of the usual kind: between two known places, all fields as
   * foretold but callee and time.
   *
   * @return number of the first record that is not, or {@code end}
   */
  int run(RecordBatch batch, int from, int end) throws CorruptChunkException {
    final byte[] kinds = batch.kind;
    final long[] times = batch.time;
    final int[] depths = batch.depth;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final long[] points = model.points;
    final long[] sites = model.sites;
    final long[] functions = model.functions;
    final long[] frames = model.frames;
    final byte[] forkAtDepth = model.forkAtDepth;
    final byte[] content = source.content;
    final int[] forksAt = source.forksAt;
    final int[] forksEnd = source.forksEnd;
    final int[] lowAt = source.lowAt;
    final int[] lowEnd = source.lowEnd;
    final int[] highAt = source.highAt;
    final ByteSource symbols = source.stream(FUNCTIONS);
    final int symbolsEnd = symbols.end();
    final ByteSource[] successors = {source.stream(SUCCESSORS), source.stream(SUCCESSORS + 1)};
    final int siteCount = model.siteCount;
    final int functionCount = model.functionCount;
    final boolean retPByFunction = model.retPByFunction;
    final boolean baseKnown = model.baseKnown;
    final long baseRetP = model.baseRetP;
    final long baseFp = model.baseFp;
    int symbolsAt = symbols.position();
    int point = model.point;
    int previous = model.previous;
    int top = model.top;
    int next = model.next;
    long now = from == 0 ? 0 : times[from - 1];
    int i = from;
    while (i < end) {
      int at = point << POINT_BITS;
      long state = points[at];
      int mode = (int) (state & MODE);
      int chosen = 0;
      int bit = 0;
      int successor = 0;
      if (mode == OPEN) {
        ByteSource open = successors[previous];
        successor = open.peek();
        if (successor >= SYMBOL_BYTE_MAX || successor >= siteCount) {
          break;
        }
        chosen = -1;
      } else {
        if (mode == FORK) {
          int forkAt = forksAt[previous];
          if (forkAt == forksEnd[previous]) {
            break;
          }
          bit = content[forkAt >> 3] >> (forkAt & 7);
          if (previous == RecordBatch.ENTRY) {
            bit ^= forkAtDepth[next & DEPTH_MASK];
          }
          bit &= 1;
          chosen = bit ^ flip(state);
        }
        successor = Packed2Point.successor(state, chosen);
      }
      if (successor == NEW) {
        break;
      }
      int kind = successor == RETURN ? RecordBatch.EXIT : RecordBatch.ENTRY;
      long delta;
      int timing = chosen < 0 ? VARIES : timing(state, chosen);
      if (timing == SURE) {
        delta = points[at + TIME_0 + chosen];
      } else {
        int context = timeContext(previous, kind);
        int low = lowAt[context];
        if (low == lowEnd[context]) {
          break;
        }
        int high = content[highAt[context]] & 0xff;
        if (high == HIGH_LONG) {
          break;
        }
        delta = (content[low] & 0xff) | (high << 8);
      }
      long selfPc;
      long fromPc;
      long retP;
      long fp;
      int depth;
      if (successor == RETURN) {
        if (top == 0) {
          break;
        }
        long frame = frames[top];
        int entry = (int) frame;
        selfPc = selfPcs[entry];
        fromPc = fromPcs[entry];
        retP = retPs[entry];
        fp = fps[entry];
        top--;
        point = returnPoint((int) (frame >>> FRAME_SITE_SHIFT));
        depth = next - 1;
      } else {
        int atSite = successor << SITE_BITS;
        long siteState = sites[atSite + SITE_STATE];
        if (top == 0 && !baseKnown) {
          break;
        }
        int sureness = (int) siteState & CALLEE_SURENESS;
        int function = (int) (siteState >>> CALLEE_SHIFT);
        if (sureness != SURE) {
          if (symbolsAt == symbolsEnd) {
            break;
          }
          function = content[symbolsAt] & 0xff;
          if (function == NEW || function >= SYMBOL_BYTE_MAX || function >= functionCount) {
            break;
          }
          symbolsAt++;
          if (sureness != VARIES) {
            model.learnCallee(successor, function);
          }
        }
        int atFunction = function << FUNCTION_BITS;
        int caller = (int) frames[top];
        long callerRetP = top == 0 ? baseRetP : retPs[caller];
        retP =
            callerRetP
                + (retPByFunction
                    ? functions[atFunction + RET_P_STEP]
                    : sites[atSite + RET_P_STEP]);
        fp =
            (siteState & FP_INHERITED) == 0
                ? callerRetP + sites[atSite + FP_STEP]
                : top == 0 ? baseFp : fps[caller];
        if ((siteState & STRUCK_OUT) != 0) {
          if (retPVaries(siteState)) {
            sites[atSite + RET_P_STEP] += source.stream(RET_PS).zigzag();
            retP = callerRetP + sites[atSite + RET_P_STEP];
          }
          if (fpVaries(siteState)) {
            sites[atSite + FP_STEP] += source.stream(FPS).zigzag();
            fp = sites[atSite + FP_STEP];
          }
        }
        selfPc = functions[atFunction];
        fromPc = sites[atSite];
        top++;
        frames[top] = ((long) successor << FRAME_SITE_SHIFT) | i;
        point = entryPoint(function);
        depth = next;
      }
      if (timing != SURE) {
        int context = timeContext(previous, kind);
        lowAt[context]++;
        highAt[context]++;
        if (timing != VARIES) {
          state = learnTime(points, at, state, chosen, delta);
          points[at] = state;
        }
      }
      if (mode == FORK) {
        forksAt[previous]++;
        if (previous == RecordBatch.ENTRY) {
          forkAtDepth[next & DEPTH_MASK] = (byte) bit;
        }
        if (Packed2Point.successor(state, 1) == 0) {
          points[at] = confirmed(state, 0);
        }
      } else if (mode == OPEN) {
        successors[previous].skip();
      }
      now += delta;
      kinds[i] = (byte) kind;
      times[i] = now;
      depths[i] = depth;
      selfPcs[i] = selfPc;
      fromPcs[i] = fromPc;
      retPs[i] = retP;
      fps[i] = fp;
      next = depth + 1 - kind;
      previous = kind;
      i++;
    }
    symbols.moveTo(symbolsAt);
    model.point = point;
    model.previous = previous;
    model.top = top;
    model.next = next;
    batch.setSize(i);
    return i;
  }
}
