package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

import java.util.Arrays;

/**
 * What the records of a chunk so far foretell of the next one. Encoder and decoder run the same
 * model; {@code schemas/PACKED.md} specifies it. Lossless for any input: a wrong foretelling costs
 * bytes only.
 *
 * <p>Its parts are objects rather than rows of arrays, so that the loops follow references and
 * check no bounds. They grow with the chunk and stay for the next one.
 */
final class PackedModel {
  /** By number; the first two stand for sites without a number and for {@link #back}. */
  PackedSite[] sites = new PackedSite[64];

  int siteCount;

  /** By number; the first one stands for functions without a number. */
  PackedFunction[] functions = new PackedFunction[64];

  int functionCount;

  /** The successor that is a return: retp and fp of the running frame stay as they are. */
  final PackedSite back;

  /** The innermost frame that was opened before the chunk, which those opened since lie on. */
  final PackedFrame base = PackedFrame.base();

  /** Frame of the call that runs, or the base. Depths from there down are without gaps. */
  PackedFrame frame;

  /** Frames there are to use, but for the base. */
  private int frameCount;

  /** Depth of an entry as foretold; an exit's is one less. */
  int next;

  PackedPoint point;

  /** Kind of the record before: ENTRY (also at first and after LOST) or EXIT. */
  int previous;

  /** True where retp follows from the function rather than from the site. */
  boolean retPByFunction;

  /** Step of retp of the latest call that taught one. */
  long usualRetPStep;

  /** Address of the function numbered last. */
  long lastFunction;

  /** Per depth modulo 64 a bit: the one coded at the last fork there after an entry. */
  long forkAtDepth;

  PackedModel() {
    functions[NEW] = new PackedFunction(NEW);
    sites[NEW] = new PackedSite(NEW);
    back = sites[RETURN] = new PackedSite(RETURN);
  }

  /** Knows nothing. */
  void reset() {
    functions[NEW].reset(0);
    functionCount = 1;
    sites[NEW].resetStranger(functions[NEW]);
    back.resetBack(functions[NEW]);
    siteCount = FIRST_SITE;
    base.retP = 0;
    base.fp = 0;
    base.known = false;
    frame = base;
    next = 0;
    point = functions[NEW];
    previous = RecordBatch.ENTRY;
    retPByFunction = false;
    usualRetPStep = 0;
    lastFunction = 0;
    forkAtDepth = 0;
  }

  /** True where more memory is held than an ordinary chunk needs. */
  boolean isOutsized() {
    return frameCount > KEPT_RECORDS_MAX;
  }

  /** Numbers a site; that without a number where there is no room. */
  PackedSite addSite(long address) {
    if (siteCount == IDS_MAX) {
      return sites[NEW];
    }
    if (siteCount == sites.length) {
      sites = Arrays.copyOf(sites, siteCount * 2);
    }
    if (sites[siteCount] == null) {
      sites[siteCount] = new PackedSite(siteCount);
    }
    PackedSite site = sites[siteCount++];
    site.reset(address, functions[NEW]);
    return site;
  }

  /** Numbers a function; that without a number where there is no room. */
  PackedFunction addFunction(long address) {
    lastFunction = address;
    if (functionCount == IDS_MAX) {
      return functions[NEW];
    }
    if (functionCount == functions.length) {
      functions = Arrays.copyOf(functions, functionCount * 2);
    }
    if (functions[functionCount] == null) {
      functions[functionCount] = new PackedFunction(functionCount);
    }
    PackedFunction function = functions[functionCount++];
    function.reset(address);
    return function;
  }

  /** The bit coded at the last fork after an entry at this depth. */
  int forkAtDepth() {
    return (int) (forkAtDepth >>> next) & 1;
  }

  /** Remembers another one for this depth if {@code changed} is 1. */
  void forkAtDepth(int changed) {
    forkAtDepth ^= (long) changed << next;
  }

  /** Drops the frames that an entry at a depth other than foretold proves dead. */
  void leaveForEntry(int depth) {
    int dead = next - depth;
    if (dead > 0 && dead <= frame.height) {
      drop(dead);
    } else {
      frame = base;
      base.known = false;
    }
  }

  /** Drops the frames above the one that exits at a depth other than foretold. */
  void leaveForExit(int depth) {
    int dead = next - 1 - depth;
    if (dead > 0 && dead < frame.height) {
      drop(dead);
    } else {
      frame = base;
    }
  }

  private void drop(int dead) {
    for (int i = 0; i < dead; i++) {
      frame = frame.caller;
    }
  }

  /** retp of a call from the running frame, by a site and a function that have a number. */
  long foretoldRetP(PackedSite site, PackedFunction function) {
    return foretoldRetP(frame, site, function);
  }

  long foretoldRetP(PackedFrame caller, PackedSite site, PackedFunction function) {
    return caller.retP + (retPByFunction ? function.retPStep : site.retPStep);
  }

  long foretoldFp(PackedSite site) {
    return foretoldFp(frame, site);
  }

  static long foretoldFp(PackedFrame caller, PackedSite site) {
    return site.fpInherited ? caller.fp : caller.retP + site.fpStep;
  }

  /** What a coded retp is a departure from: of a site where it varies, as at the last call. */
  long expectedRetP(PackedSite site, boolean siteNew) {
    return frame.retP + (!siteNew && site.retPVaries() ? site.retPStep : 0);
  }

  /** What a coded fp is a departure from: of a site where it varies, the last one. */
  long expectedFp(PackedSite site, boolean siteNew, long retP) {
    return !siteNew && site.fpVaries() ? site.fpStep : retP;
  }

  /** Counts a wrong retp against the site, unless the base may be to blame. */
  void strikeRetP(PackedSite site) {
    if (frame != base) {
      site.strikeRetP();
    }
  }

  void strikeFp(PackedSite site) {
    if (frame != base) {
      site.strikeFp();
    }
  }

  /** Teaches site and function, or the base, a retp that was coded. */
  void learnRetP(
      PackedSite site, boolean siteNew, PackedFunction function, boolean functionNew, long retP) {
    long bySite = site.retPStep;
    long byFunction = function.retPStep;
    if (!frame.known) {
      long step =
          siteNew
              ? functionNew ? usualRetPStep : byFunction
              : retPByFunction && !functionNew ? byFunction : bySite;
      base.retP = retP - step;
      site.retPStep = siteNew ? step : bySite;
      function.retPStep = functionNew ? step : byFunction;
      return;
    }
    long step = retP - frame.retP;
    if (!siteNew && !functionNew && site.retPVaries()) {
      site.retPStep = step;
      return;
    }
    if (!siteNew && !functionNew && (step == bySite) != (step == byFunction)) {
      retPByFunction = step == byFunction;
    }
    site.retPStep = step;
    function.retPStep = step;
    usualRetPStep = step;
  }

  /** Teaches the site, or the base, an fp that was coded; the base's retp is known by now. */
  void learnFp(PackedSite site, boolean siteNew, long fp) {
    if (!siteNew && site.fpVaries()) {
      site.fpStep = fp;
    } else if (!siteNew && !frame.known && !site.fpInherited) {
      // the base tells nothing, and the site was taught by others
      return;
    } else if (!siteNew && frame == base && site.fpInherited) {
      base.fp = fp;
    } else {
      site.fpStep = fp - frame.retP;
      site.fpInherited = fp == frame.fp;
    }
  }

  /** Opens the frame of the entry that is record number {@code record}. */
  void enter(
      int record,
      int depth,
      PackedSite site,
      PackedFunction function,
      long selfPc,
      long fromPc,
      long retP,
      long fp) {
    base.known |= frame == base;
    frame = frame.push();
    frameCount = Math.max(frameCount, frame.height);
    frame.selfPc = selfPc;
    frame.fromPc = fromPc;
    frame.retP = retP;
    frame.fp = fp;
    frame.entry = record;
    frame.site = site.number;
    next = depth + 1;
    point = function;
    previous = RecordBatch.ENTRY;
  }

  /** The running frame exits, to where it was called from or elsewhere. */
  void exit(int depth, boolean elsewhere) {
    PackedSite site = sites[elsewhere ? NEW : frame.site];
    frame = frame.caller;
    exited(depth, site);
  }

  /** A frame exits that was opened before the chunk: its caller is the base now. */
  void exitUnknown(int depth, PackedSite site, long retP, long fp) {
    base.retP = retP;
    base.fp = fp;
    base.known = false;
    exited(depth, site);
  }

  private void exited(int depth, PackedSite site) {
    next = depth;
    point = site;
    previous = RecordBatch.EXIT;
  }

  /** After LOST nothing is known of the point. */
  void lost() {
    point = functions[NEW];
    previous = RecordBatch.ENTRY;
  }
}
