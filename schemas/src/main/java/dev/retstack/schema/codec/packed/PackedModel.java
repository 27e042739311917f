package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import dev.retstack.schema.record.RecordBatch;
import java.util.Arrays;

/**
 * Predicts the next record of a chunk from those before it. Encoder and decoder run the same model,
 * which {@code schemas/PACKED.md} specifies. It is lossless for any input: a wrong prediction only
 * costs bytes.
 *
 * <p>Its parts are objects rather than parallel arrays, so that the loops follow references and
 * check no bounds. They grow with the chunk and are reused for the next one.
 */
final class PackedModel {
  // How sure a time or a callee is to be the same again.

  /** Not yet: it was seen once at most. */
  static final int UNSURE = 0;

  /** The value repeats: it will be as it was last. */
  static final int SURE = 1;

  /** Not at all, for good. */
  static final int VARIES = 2;

  /** Not yet, but one chance. */
  static final int DOUBTED = 3;

  /** By number; the first two stand for sites without a number and for {@link #back}. */
  Site[] sites = new Site[64];

  int siteCount;

  /** By number; the first one stands for functions without a number. */
  Function[] functions = new Function[64];

  int functionCount;

  /** The successor that is a return: retp and fp of the running frame stay as they are. */
  final Site back;

  /** The innermost frame that was opened before the chunk, which those opened since lie on. */
  final Frame base = Frame.base();

  /** Frame of the call that runs, or the base. Depths from there down are without gaps. */
  Frame frame;

  /** Frames there are to use, but for the base. */
  private int frameCount;

  /** Predicted depth of an entry; an exit's is one less. */
  int next;

  Point point;

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
    functions[NEW] = new Function(NEW);
    sites[NEW] = new Site(NEW);
    back = sites[RETURN] = new Site(RETURN);
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
  Site addSite(long address) {
    if (siteCount == IDS_MAX) {
      return sites[NEW];
    }
    if (siteCount == sites.length) {
      sites = Arrays.copyOf(sites, siteCount * 2);
    }
    if (sites[siteCount] == null) {
      sites[siteCount] = new Site(siteCount);
    }
    Site site = sites[siteCount++];
    site.reset(address, functions[NEW]);
    return site;
  }

  /** Numbers a function; that without a number where there is no room. */
  Function addFunction(long address) {
    lastFunction = address;
    if (functionCount == IDS_MAX) {
      return functions[NEW];
    }
    if (functionCount == functions.length) {
      functions = Arrays.copyOf(functions, functionCount * 2);
    }
    if (functions[functionCount] == null) {
      functions[functionCount] = new Function(functionCount);
    }
    Function function = functions[functionCount++];
    function.reset(address);
    return function;
  }

  /**
   * Where the program is before record {@code i}, by the record ahead of it; 0 if that is unknown.
   */
  static long placeBefore(RecordBatch batch, int i) {
    return i == 0
        ? 0
        : switch (batch.kind[i - 1]) {
          case RecordBatch.ENTRY -> batch.selfPc[i - 1];
          case RecordBatch.EXIT -> batch.fromPc[i - 1];
          default -> 0;
        };
  }

  /** How sure it is after the next value, which was equal to the last one or not. */
  static int taught(int sureness, boolean equal) {
    return switch (sureness) {
      case UNSURE -> equal ? SURE : DOUBTED;
      case SURE -> equal ? SURE : VARIES;
      case DOUBTED -> equal ? SURE : VARIES;
      default -> VARIES;
    };
  }

  /** The bit coded at the last fork after an entry at this depth. */
  int forkAtDepth() {
    return (int) (forkAtDepth >>> next) & 1;
  }

  /** Remembers another one for this depth if {@code changed} is 1. */
  void forkAtDepth(int changed) {
    forkAtDepth ^= (long) changed << next;
  }

  /** Drops the frames that an entry at an unpredicted depth proves dead. */
  void leaveForEntry(int depth) {
    int dead = next - depth;
    if (dead > 0 && dead <= frame.height) {
      drop(dead);
    } else {
      frame = base;
      base.known = false;
    }
  }

  /** Drops the frames above the frame that exits at an unpredicted depth. */
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
  long foretoldRetP(Site site, Function function) {
    return foretoldRetP(frame, site, function);
  }

  long foretoldRetP(Frame caller, Site site, Function function) {
    return caller.retP + (retPByFunction ? function.retPStep : site.retPStep);
  }

  long foretoldFp(Site site) {
    return foretoldFp(frame, site);
  }

  static long foretoldFp(Frame caller, Site site) {
    return site.fpInherited ? caller.fp : caller.retP + site.fpStep;
  }

  /** What a coded retp is a departure from: of a site where it varies, as at the last call. */
  long expectedRetP(Site site, boolean siteNew) {
    return frame.retP + (!siteNew && site.retPVaries() ? site.retPStep : 0);
  }

  /** What a coded fp is a departure from: of a site where it varies, the last one. */
  long expectedFp(Site site, boolean siteNew, long retP) {
    return !siteNew && site.fpVaries() ? site.fpStep : retP;
  }

  /** Counts a wrong retp against the site, unless the base may be to blame. */
  void strikeRetP(Site site) {
    if (frame != base) {
      site.strikeRetP();
    }
  }

  void strikeFp(Site site) {
    if (frame != base) {
      site.strikeFp();
    }
  }

  /** Teaches site and function, or the base, a retp that was coded. */
  void learnRetP(Site site, boolean siteNew, Function function, boolean functionNew, long retP) {
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
  void learnFp(Site site, boolean siteNew, long fp) {
    if (!siteNew && site.fpVaries()) {
      site.fpStep = fp;
    } else if (!siteNew && !frame.known && !site.fpInherited) {
      // the base's fields are unknown, and the site was taught by other calls
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
      Site site,
      Function function,
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
    Site site = sites[elsewhere ? NEW : frame.site];
    frame = frame.caller;
    exited(depth, site);
  }

  /** A frame exits that was opened before the chunk: its caller is the base now. */
  void exitUnknown(int depth, Site site, long retP, long fp) {
    base.retP = retP;
    base.fp = fp;
    base.known = false;
    exited(depth, site);
  }

  private void exited(int depth, Site site) {
    next = depth;
    point = site;
    previous = RecordBatch.EXIT;
  }

  /** After LOST nothing is known of the point. */
  void lost() {
    point = functions[NEW];
    previous = RecordBatch.ENTRY;
  }

  /**
   * A place in the program where it shows what comes next, and what is known of that. The loops ask
   * the upper fields only, which lie close together and say everything at one glance.
   */
  static class Point {
    // modes of a point: nothing known, one way always, a fork, more than two ways
    static final int FRESH = 0;
    static final int CERTAIN = 1;
    static final int FORK = 2;
    static final int OPEN = 3;

    /** Times in a row that a point's only successor must come before it counts as certain. */
    static final int TRUST_MAX = 7;

    /** Successor of a clear bit, or of a certain point; null where the loops must stop. */
    Site zero;

    /** The successor of a set bit, or null likewise. */
    Site one;

    /** The time to that successor, as {@link Way#foretoldTime} says. */
    long zeroTime;

    long oneTime;

    /** 1 where a bit says which, else 0. */
    int fork;

    /**
     * How often the loops may come by: while trust in the only successor rises, all but one of the
     * times that it takes, and the last one is left to {@link #learn}.
     */
    int visits;

    byte mode;

    /** 1 where a set bit stands for the first slot. */
    byte flip;

    private final Way first = new Way();
    private final Way second = new Way();

    /** Knows nothing. */
    final void forget() {
      mode = FRESH;
      visits = TRUST_MAX - 1;
      flip = 0;
      first.clear();
      second.clear();
      refresh();
    }

    /** The slot that predicts this successor, or -1. */
    final int slotOf(Site successor) {
      return successor == first.site ? 0 : successor == second.site ? 1 : -1;
    }

    final Way way(int slot) {
      return slot == 0 ? first : second;
    }

    /** True where the successor needs no escape: it stands in a slot, or any other may come. */
    final boolean isForetold(int slot) {
      return slot >= 0 || (mode != CERTAIN && second.site == null);
    }

    /**
     * Learns which successor came, and when.
     *
     * @param slot where it stands, or -1
     * @param successor null where it has no number
     */
    final void learn(int slot, Site successor, long delta) {
      if (slot >= 0) {
        way(slot).learn(delta);
        if (slot == 0 && mode == FORK && second.site == null && visits-- == 0) {
          mode = CERTAIN;
          flip = 0;
        }
      } else if (successor != null && mode != OPEN) {
        join(successor, delta);
      }
      refresh();
    }

    private void join(Site successor, long delta) {
      if (first.site == null) {
        first.open(successor, delta);
        mode = FORK;
        flip = (byte) (successor.isBack() ? 0 : 1);
      } else if (second.site == null) {
        second.open(successor, delta);
        mode = FORK;
        flip = (byte) (successor.isBack() ? 1 : 0);
      } else {
        forget();
        mode = OPEN;
      }
    }

    /** Says anew what the loops may know. */
    private void refresh() {
      fork = mode == FORK ? 1 : 0;
      Way byZero = flip == 0 ? first : second;
      Way byOne = flip == 0 ? second : first;
      zero = byZero.settledSite();
      zeroTime = byZero.foretoldTime();
      one = byOne.settledSite();
      oneTime = byOne.foretoldTime();
      visits = mode == CERTAIN || second.site != null ? Integer.MAX_VALUE : visits;
    }
  }

  /** A call site, by its frompc, and the point where a call from it has returned. */
  static final class Site extends Point {
    /** Wrong foretellings of a field, after which it is always coded. */
    private static final int STRIKES_MAX = 3;

    /** Number as in {@link PackedLayout}. */
    final int number;

    long address;
    Function callee;
    int sureness;

    /** retp of a call minus retp of its caller. */
    long retPStep;

    /** fp of a call minus retp of its caller; where fp varies, the last fp. */
    long fpStep;

    /** True where a call has the fp of its caller. */
    boolean fpInherited;

    private int retPStrikes;
    private int fpStrikes;

    /** True where a call is as predicted in all fields, unless an escape says otherwise. */
    boolean plain;

    /** Numbers of the callee and of the site, as a {@linkplain RecordBatch#links link}. */
    int link;

    Site(int number) {
      this.number = number;
    }

    /** A site never seen before. */
    void reset(long newAddress, Function nobody) {
      forget();
      address = newAddress;
      callee = nobody;
      sureness = UNSURE;
      retPStep = 0;
      fpStep = 0;
      fpInherited = false;
      retPStrikes = 0;
      fpStrikes = 0;
      plain = false;
    }

    /**
     * Resets the site that stands for all sites without a number: its calls are never predicted.
     */
    void resetStranger(Function nobody) {
      reset(0, nobody);
      sureness = VARIES;
      retPStrikes = STRIKES_MAX;
      fpStrikes = STRIKES_MAX;
    }

    /** What stands for the return: like a call with retp and fp of the running frame. */
    void resetBack(Function nobody) {
      reset(0, nobody);
      fpInherited = true;
      plain = true;
    }

    boolean isBack() {
      return number == PackedLayout.RETURN;
    }

    boolean retPVaries() {
      return retPStrikes == STRIKES_MAX;
    }

    boolean fpVaries() {
      return fpStrikes == STRIKES_MAX;
    }

    /** Counts a wrong foretelling of retp. */
    void strikeRetP() {
      retPStrikes++;
      settle();
    }

    void strikeFp() {
      fpStrikes++;
      settle();
    }

    /** Learns whom it called. */
    void learnCallee(Function function) {
      boolean known = sureness != UNSURE || callee.number != PackedLayout.NEW;
      if (known) {
        sureness = taught(sureness, function == callee && function.number != PackedLayout.NEW);
      }
      callee = function;
      link = function.number << RecordBatch.LINK_SITE_BITS | number;
      settle();
    }

    private void settle() {
      plain = sureness == SURE && !retPVaries() && !fpVaries();
    }
  }

  /** A function, by its selfpc, and the point where it has just been entered. */
  static final class Function extends Point {
    /** From 1; 0 stands for functions without a number. */
    final int number;

    long address;

    /** retp of a call minus retp of its caller. */
    long retPStep;

    Function(int number) {
      this.number = number;
    }

    void reset(long newAddress) {
      forget();
      address = newAddress;
      retPStep = 0;
    }
  }

  /** A successor of a point, and what is known of the time to it. */
  static final class Way {
    /** Stands for a time that is coded. */
    static final long TIME_VARIES = -1;

    /**
     * Site whose call comes by this way, or {@link PackedModel#back} for the return; null: unknown.
     */
    Site site;

    /** The time it took last. */
    long time;

    private int timing;

    void clear() {
      site = null;
      time = 0;
      timing = UNSURE;
    }

    void open(Site successor, long delta) {
      clear();
      site = successor;
      time = delta;
    }

    boolean isSure() {
      return timing == SURE;
    }

    /** The time, or what stands for it where it is not sure. */
    long foretoldTime() {
      return timing == SURE ? time : TIME_VARIES;
    }

    /** The successor, once its time needs no more teaching, and is none to be mistaken. */
    Site settledSite() {
      return timing == VARIES || (timing == SURE && time >= 0) ? site : null;
    }

    void learn(long delta) {
      timing = taught(timing, delta == time);
      time = delta;
    }
  }

  /**
   * A frame of the ret_stack: the fields of its entry. Frames stay where they are and are reused.
   */
  static final class Frame {
    final Frame caller;

    /** How many frames lie between this one and the base; 0: the base. */
    final int height;

    /** The frame above; null where there was never one. */
    Frame callee;

    /** False for the base as long as its fields are unknown. */
    boolean known = true;

    long selfPc;
    long fromPc;
    long retP;
    long fp;

    /** Index of the entry's record. */
    int entry;

    /** Number of the site that the frame returns to. */
    int site;

    private Frame(Frame caller, int height) {
      this.caller = caller;
      this.height = height;
    }

    /** A stack without frames: only the base. */
    static Frame base() {
      return new Frame(null, 0);
    }

    /** The frame above, as it was left by an earlier call. */
    Frame push() {
      if (callee == null) {
        callee = new Frame(this, height + 1);
      }
      return callee;
    }
  }
}
