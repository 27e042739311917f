package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;
import static dev.retstack.schema.codec.Packed2Point.*;

import java.util.Arrays;

/**
 * What the records of a chunk so far foretell of the next one. Encoder and decoder run the same
 * model; {@code schemas/PACKED2.md} specifies it. Lossless for any input: a wrong foretelling costs
 * bytes only.
 *
 * <p>A <em>site</em> is a frompc, a <em>function</em> a selfpc, both numbered as they come. A
 * <em>point</em> is where the program is after a record: in a function just entered, or back at a
 * site. The tables are primitive arrays that grow with the chunk and stay for the next one.
 */
final class Packed2Model {
  // a site
  static final int SITE_BITS = 2;
  static final int ADDRESS = 0;

  /** Of sites and functions: retp of a call minus retp of its caller. */
  static final int RET_P_STEP = 1;

  /** fp of a call minus retp of its caller; of a site whose fp varies, the last fp. */
  static final int FP_STEP = 2;

  static final int SITE_STATE = 3;

  // fields of a site's state; the callee's number is above them
  static final int CALLEE_SURENESS = 3;
  static final int FP_INHERITED = 1 << 2;
  static final int RET_P_STRIKES_SHIFT = 3;
  static final int FP_STRIKES_SHIFT = 5;
  static final int CALLEE_SHIFT = 8;

  /** Wrong foretellings of a field at a site, after which it is always coded. */
  static final int STRIKES_MAX = 3;

  // a function: address, step of retp
  static final int FUNCTION_BITS = 1;

  /** A frame: number of the site above, number of its entry's record below. */
  static final int FRAME_SITE_SHIFT = 32;

  /** Set where retp or fp has struck out. */
  static final long STRUCK_OUT = 1 << 7;

  private static final int DEPTHS_REMEMBERED = 64;

  /** Low bits of a depth, by which forks are remembered. */
  static final int DEPTH_MASK = DEPTHS_REMEMBERED - 1;

  /** Two points for each number: entry of that function, return to that site. */
  long[] points = new long[128 << POINT_BITS];

  long[] sites = new long[64 << SITE_BITS];
  int siteCount;

  long[] functions = new long[64 << FUNCTION_BITS];
  int functionCount;

  /** From 1 the frames opened in this chunk; 0 stands for the base. */
  long[] frames = new long[64];

  /** The base: the innermost frame that was opened before the chunk. */
  long baseRetP;

  long baseFp;

  /** The batch's columns: a frame's fields stand in the record of its entry. */
  private long[] retPs;

  private long[] fps;

  /** Frame of the call that runs; 0: the base. Depths from there down are without gaps. */
  int top;

  /** Depth of an entry as foretold; an exit's is one less. */
  int next;

  /** Number of the point. */
  int point;

  /** Kind of the record before: ENTRY (also at first and after LOST) or EXIT. */
  int previous;

  /** True where retp follows from the function rather than from the site. */
  boolean retPByFunction;

  /** True where the base's retp and fp were told by a call from it. */
  boolean baseKnown;

  /** Step of retp of the latest call that taught one. */
  long usualRetPStep;

  /** Address of the function numbered last. */
  long lastFunction;

  /** Per depth, the fork bit coded last after an entry. */
  final byte[] forkAtDepth = new byte[DEPTHS_REMEMBERED];

  /** Knows nothing but the batch that is read or filled, and how many records that holds. */
  void reset(RecordBatch batch, int count) {
    if (frames.length <= count) {
      frames = new long[count + 1];
    }
    frames[0] = 0;
    retPs = batch.retP;
    fps = batch.fp;
    baseRetP = 0;
    baseFp = 0;
    siteCount = FIRST_SITE;
    functionCount = 1;
    Arrays.fill(sites, 0, FIRST_SITE << SITE_BITS, 0);
    sites[SITE_STATE] =
        VARIES | (long) STRIKES_MAX << RET_P_STRIKES_SHIFT | (long) STRIKES_MAX << FP_STRIKES_SHIFT;
    Arrays.fill(functions, 0, 1 << FUNCTION_BITS, 0);
    Arrays.fill(points, 0, (2 * FIRST_SITE) << POINT_BITS, 0);
    top = 0;
    next = 0;
    point = 0;
    previous = RecordBatch.ENTRY;
    retPByFunction = false;
    baseKnown = false;
    usualRetPStep = 0;
    lastFunction = 0;
    Arrays.fill(forkAtDepth, (byte) 0);
  }

  boolean isOutsized() {
    return frames.length > KEPT_RECORDS_MAX;
  }

  /** Numbers a site; 0 where there is no room. */
  int addSite(long address) {
    if (siteCount == IDS_MAX) {
      return NEW;
    }
    int site = siteCount++;
    int at = site << SITE_BITS;
    if (at == sites.length) {
      sites = Arrays.copyOf(sites, at * 2);
    }
    sites[at + ADDRESS] = address;
    sites[at + RET_P_STEP] = 0;
    sites[at + FP_STEP] = 0;
    sites[at + SITE_STATE] = 0;
    freshPoint(returnPoint(site));
    return site;
  }

  /** Numbers a function; 0 where there is no room. */
  int addFunction(long address) {
    lastFunction = address;
    if (functionCount == IDS_MAX) {
      return NEW;
    }
    int function = functionCount++;
    int at = function << FUNCTION_BITS;
    if (at == functions.length) {
      functions = Arrays.copyOf(functions, at * 2);
    }
    functions[at + ADDRESS] = address;
    functions[at + RET_P_STEP] = 0;
    freshPoint(entryPoint(function));
    return function;
  }

  private void freshPoint(int number) {
    int at = number << POINT_BITS;
    if (at >= points.length) {
      points = Arrays.copyOf(points, points.length * 2);
    }
    points[at + STATE] = FRESH;
  }

  /** Teaches the point which successor came, and when. */
  void learnSuccessor(int slot, int successor, long delta) {
    int at = point << POINT_BITS;
    long state = points[at + STATE];
    if (slot >= 0) {
      points[at + STATE] = confirmed(learnTime(points, at, state, slot, delta), slot);
    } else if (successor != NEW && (state & MODE) != OPEN) {
      points[at + STATE] = joined(points, at, state, successor, delta);
    }
  }

  /** Drops the frames that an entry at a depth other than foretold proves dead. */
  void leaveForEntry(int depth) {
    int dead = next - depth;
    if (dead > 0 && dead <= top) {
      top -= dead;
    } else {
      top = 0;
      baseKnown = false;
    }
  }

  /** Drops the frames above the one that exits at a depth other than foretold. */
  void leaveForExit(int depth) {
    int dead = next - 1 - depth;
    top = dead > 0 && dead < top ? top - dead : 0;
  }

  /** True where nothing foretells retp and fp of a call: its caller is unknown. */
  boolean callerUnknown() {
    return top == 0 && !baseKnown;
  }

  /** retp of the running frame, or what it is taken to be. */
  long callerRetP() {
    return top == 0 ? baseRetP : retPs[(int) frames[top]];
  }

  long callerFp() {
    return top == 0 ? baseFp : fps[(int) frames[top]];
  }

  /** retp of a call from the running frame, by a site and a function that have a number. */
  long foretoldRetP(int site, int function) {
    return callerRetP()
        + (retPByFunction
            ? functions[(function << FUNCTION_BITS) + RET_P_STEP]
            : sites[(site << SITE_BITS) + RET_P_STEP]);
  }

  long foretoldFp(int site) {
    int at = site << SITE_BITS;
    return (sites[at + SITE_STATE] & FP_INHERITED) != 0
        ? callerFp()
        : callerRetP() + sites[at + FP_STEP];
  }

  /** What a coded retp is a departure from: of a site where it varies, as at the last call. */
  long expectedRetP(int site, boolean siteNew) {
    int at = site << SITE_BITS;
    return callerRetP()
        + (!siteNew && retPVaries(sites[at + SITE_STATE]) ? sites[at + RET_P_STEP] : 0);
  }

  /** What a coded fp is a departure from: of a site where it varies, the last one. */
  long expectedFp(int site, boolean siteNew, long retP) {
    int at = site << SITE_BITS;
    return !siteNew && fpVaries(sites[at + SITE_STATE]) ? sites[at + FP_STEP] : retP;
  }

  static boolean retPVaries(long siteState) {
    return (siteState >>> RET_P_STRIKES_SHIFT & 3) == STRIKES_MAX;
  }

  static boolean fpVaries(long siteState) {
    return (siteState >>> FP_STRIKES_SHIFT & 3) == STRIKES_MAX;
  }

  /** Teaches site and function, or the base, a retp that was coded. */
  void learnRetP(int site, boolean siteNew, int function, boolean functionNew, long retP) {
    int atSite = (site << SITE_BITS) + RET_P_STEP;
    int atFunction = (function << FUNCTION_BITS) + RET_P_STEP;
    long bySite = sites[atSite];
    long byFunction = functions[atFunction];
    if (callerUnknown()) {
      long step =
          siteNew
              ? functionNew ? usualRetPStep : byFunction
              : retPByFunction && !functionNew ? byFunction : bySite;
      baseRetP = retP - step;
      sites[atSite] = siteNew ? step : bySite;
      functions[atFunction] = functionNew ? step : byFunction;
      return;
    }
    long step = retP - callerRetP();
    if (!siteNew && !functionNew && retPVaries(sites[(site << SITE_BITS) + SITE_STATE])) {
      sites[atSite] = step;
      return;
    }
    if (!siteNew && !functionNew && (step == bySite) != (step == byFunction)) {
      retPByFunction = step == byFunction;
    }
    sites[atSite] = step;
    functions[atFunction] = step;
    usualRetPStep = step;
  }

  /** Teaches the site, or the base, an fp that was coded; the base's retp is known by now. */
  void learnFp(int site, boolean siteNew, long fp) {
    int at = site << SITE_BITS;
    long state = sites[at + SITE_STATE];
    if (!siteNew && fpVaries(state)) {
      sites[at + FP_STEP] = fp;
    } else if (!siteNew && callerUnknown() && (state & FP_INHERITED) == 0) {
      // the base tells nothing, and the site was taught by others
      return;
    } else if (!siteNew && top == 0 && (state & FP_INHERITED) != 0) {
      baseFp = fp;
    } else {
      sites[at + FP_STEP] = fp - callerRetP();
      boolean inherited = fp == callerFp();
      sites[at + SITE_STATE] = inherited ? state | FP_INHERITED : state & ~FP_INHERITED;
    }
  }

  /** Counts a wrong foretelling at a site, unless the base may be to blame. */
  void strike(int site, int shift) {
    if (top > 0) {
      int at = (site << SITE_BITS) + SITE_STATE;
      sites[at] += 1L << shift;
      if (retPVaries(sites[at]) || fpVaries(sites[at])) {
        sites[at] |= STRUCK_OUT;
      }
    }
  }

  /** Teaches the site whom it called. */
  void learnCallee(int site, int function) {
    int at = (site << SITE_BITS) + SITE_STATE;
    long state = sites[at];
    int callee = (int) (state >>> CALLEE_SHIFT);
    int sureness = (int) state & CALLEE_SURENESS;
    boolean first = sureness == UNSURE && callee == NEW;
    int next = first ? UNSURE : taught(sureness, function == callee && function != NEW);
    sites[at] = (state & 0xfc) | next | ((long) function << CALLEE_SHIFT);
  }

  /** Opens the frame of the entry that is record number {@code record}. */
  void enter(int record, int depth, int site, int function) {
    baseKnown |= top == 0;
    top++;
    frames[top] = (long) site << FRAME_SITE_SHIFT | record;
    next = depth + 1;
    point = entryPoint(function);
    previous = RecordBatch.ENTRY;
  }

  /** The running frame exits to a site, 0 where it returns elsewhere than it was called from. */
  void exit(int depth, int site) {
    top--;
    exited(depth, site);
  }

  /** A frame exits that was opened before the chunk: its caller is the base now. */
  void exitUnknown(int depth, int site, long retP, long fp) {
    baseRetP = retP;
    baseFp = fp;
    baseKnown = false;
    exited(depth, site);
  }

  private void exited(int depth, int site) {
    next = depth;
    point = returnPoint(site);
    previous = RecordBatch.EXIT;
  }

  /** After LOST nothing is known of the point. */
  void lost() {
    point = 0;
    previous = RecordBatch.ENTRY;
  }
}
