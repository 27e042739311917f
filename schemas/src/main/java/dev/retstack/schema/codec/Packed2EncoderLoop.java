package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;
import static dev.retstack.schema.codec.Packed2Model.*;
import static dev.retstack.schema.codec.Packed2Point.*;

/**
 * The part of {@link Packed2Encoder} that is run for nearly all records: those between two known
 * places whose fields are as foretold, but for callee and time. It does what the encoder does for
 * these and no more, many times faster, since what changes stays in local variables.
 */
final class Packed2EncoderLoop {
  private final Packed2Model model;
  private final Packed2Streams streams;
  private final AddressIndex siteNumbers;
  private final AddressIndex functionNumbers;

  Packed2EncoderLoop(
      Packed2Model model,
      Packed2Streams streams,
      AddressIndex siteNumbers,
      AddressIndex functionNumbers) {
    this.model = model;
    this.streams = streams;
    this.siteNumbers = siteNumbers;
    this.functionNumbers = functionNumbers;
  }

  /**
   * Packs records as long as they are of the usual kind: between two known places, all fields as
   * foretold but callee and time.
   *
   * @return number of the first record that is not, or the size of the batch
   */
  int run(RecordBatch batch, int from) {
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
    final BitSink[] forks = streams.forks;
    final byte[] lows = streams.low;
    final byte[] highs = streams.high;
    final int[] timesAt = streams.timesAt;
    final ByteSink symbols = streams.sinks[FUNCTIONS];
    final boolean retPByFunction = model.retPByFunction;
    final boolean baseKnown = model.baseKnown;
    final long baseRetP = model.baseRetP;
    final long baseFp = model.baseFp;
    final int end = batch.size();
    int point = model.point;
    int previous = model.previous;
    int top = model.top;
    int next = model.next;
    long last = from == 0 ? 0 : times[from - 1];
    int i = from;
    while (i < end) {
      int kind = kinds[i];
      int at = point << POINT_BITS;
      long state = points[at];
      int mode = (int) (state & MODE);
      long fromPc = fromPcs[i];
      int slot = 0;
      int successor = successor(state, 0);
      if (mode == OPEN) {
        slot = -1;
        successor = kind == RecordBatch.EXIT ? RETURN : siteNumbers.get(fromPc);
      } else if (kind == RecordBatch.ENTRY) {
        if (successor == RETURN || sites[successor << SITE_BITS] != fromPc) {
          slot = 1;
          successor = successor(state, 1);
          if (successor == RETURN || sites[successor << SITE_BITS] != fromPc) {
            break;
          }
        }
      } else if (successor != RETURN) {
        slot = 1;
        successor = successor(state, 1);
        if (successor != RETURN) {
          break;
        }
      }
      if (successor == NEW || kind >>> 1 != 0) {
        break;
      }
      long time = times[i];
      long delta = time - last;
      int timing = slot < 0 ? VARIES : timing(state, slot);
      if (timing == SURE) {
        if (delta != points[at + TIME_0 + slot]) {
          break;
        }
      } else if (delta >>> 8 >= HIGH_LONG || delta < 0) {
        break;
      }
      if (kind == RecordBatch.EXIT) {
        long frame = frames[top];
        int entry = (int) frame;
        if (top == 0
            || depths[i] != next - 1
            || fromPc != fromPcs[entry]
            || selfPcs[i] != selfPcs[entry]
            || retPs[i] != retPs[entry]
            || fps[i] != fps[entry]) {
          break;
        }
        top--;
        point = returnPoint((int) (frame >>> FRAME_SITE_SHIFT));
      } else {
        int atSite = successor << SITE_BITS;
        long siteState = sites[atSite + SITE_STATE];
        if (depths[i] != next || (top == 0 && !baseKnown)) {
          break;
        }
        long selfPc = selfPcs[i];
        int sureness = (int) siteState & CALLEE_SURENESS;
        int function;
        if (sureness == SURE) {
          function = (int) (siteState >>> CALLEE_SHIFT);
          if (functions[function << FUNCTION_BITS] != selfPc) {
            break;
          }
        } else {
          function = functionNumbers.get(selfPc);
          if (function == NEW) {
            break;
          }
        }
        int caller = (int) frames[top];
        long callerRetP = top == 0 ? baseRetP : retPs[caller];
        long retP =
            callerRetP
                + (retPByFunction
                    ? functions[(function << FUNCTION_BITS) + RET_P_STEP]
                    : sites[atSite + RET_P_STEP]);
        long fp =
            (siteState & FP_INHERITED) == 0
                ? callerRetP + sites[atSite + FP_STEP]
                : top == 0 ? baseFp : fps[caller];
        if ((retP != retPs[i] || fp != fps[i])
            && ((siteState & STRUCK_OUT) == 0
                || (retP != retPs[i] && !retPVaries(siteState))
                || (fp != fps[i] && !fpVaries(siteState)))) {
          break;
        }
        if ((siteState & STRUCK_OUT) != 0) {
          struckOut(atSite, siteState, retPs[i] - callerRetP, fps[i]);
        }
        if (sureness != SURE) {
          Packed2Streams.symbol(symbols, function);
          if (sureness != VARIES) {
            model.learnCallee(successor, function);
          }
        }
        top++;
        frames[top] = ((long) successor << FRAME_SITE_SHIFT) | i;
        point = entryPoint(function);
      }
      if (timing != SURE) {
        int low = timesAt[timeContext(previous, kind)]++;
        lows[low] = (byte) delta;
        highs[low] = (byte) (delta >>> 8);
        if (timing != VARIES) {
          state = learnTime(points, at, state, slot, delta);
          points[at] = state;
        }
      }
      if (mode == FORK) {
        int bit = slot ^ flip(state);
        if (previous == RecordBatch.ENTRY) {
          int coded = bit ^ forkAtDepth[next & DEPTH_MASK];
          forkAtDepth[next & DEPTH_MASK] = (byte) bit;
          forks[0].put(coded);
        } else {
          forks[1].put(bit);
        }
        if (successor(state, 1) == 0) {
          points[at] = confirmed(state, 0);
        }
      } else if (mode == OPEN) {
        Packed2Streams.symbol(streams.sinks[SUCCESSORS + previous], successor);
      }
      last = time;
      next += 1 - 2 * kind;
      previous = kind;
      i++;
    }
    model.point = point;
    model.previous = previous;
    model.top = top;
    model.next = next;
    return i;
  }

  /** Codes the fields that vary at a site, and teaches it. */
  private void struckOut(int atSite, long siteState, long retPStep, long fp) {
    long[] sites = model.sites;
    if (retPVaries(siteState)) {
      streams.number(RET_PS, retPStep - sites[atSite + RET_P_STEP]);
      sites[atSite + RET_P_STEP] = retPStep;
    }
    if (fpVaries(siteState)) {
      streams.number(FPS, fp - sites[atSite + FP_STEP]);
      sites[atSite + FP_STEP] = fp;
    }
  }
}
