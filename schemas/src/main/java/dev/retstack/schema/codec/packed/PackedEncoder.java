package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import dev.retstack.schema.codec.ByteSink;
import dev.retstack.schema.codec.packed.PackedModel.Frame;
import dev.retstack.schema.codec.packed.PackedModel.Function;
import dev.retstack.schema.codec.packed.PackedModel.Point;
import dev.retstack.schema.codec.packed.PackedModel.Site;
import dev.retstack.schema.record.AddressIndex;
import dev.retstack.schema.record.RecordBatch;

/**
 * Packs the ENTRY, EXIT and LOST records of one chunk after the other; {@link PackedDecoder} is its
 * mirror.
 */
final class PackedEncoder {
  private final PackedModel model = new PackedModel();
  private final AddressIndex siteNumbers = new AddressIndex();
  private final AddressIndex functionNumbers = new AddressIndex();
  private final PackedStreams streams;

  /** Records since the last escape. */
  private long gap;

  PackedEncoder(PackedStreams streams) {
    this.streams = streams;
  }

  /** Packs a batch into streams that are empty. */
  void encode(RecordBatch batch) {
    int count = batch.size();
    model.reset();
    siteNumbers.clear();
    functionNumbers.clear();
    gap = 0;
    for (int from = 0; from < count; from += SLICE_RECORDS) {
      int usual = runUsual(batch, from, Math.min(count, from + SLICE_RECORDS));
      gap += usual;
    }
  }

  // The loop that nearly all records take: those by a successor known well, with every field as
  // predicted. For these it does what record() does, many times faster, because its state stays in
  // local variables. It leaves the others to record().

  /**
   * Packs the records {@code from} up to {@code end}.
   *
   * @return how many were packed since the last one that was handed over, or since {@code from}
   */
  int runUsual(RecordBatch batch, int from, int end) {
    final byte[] kinds = batch.kind;
    final int[] depths = batch.depth;
    final long[] times = batch.time;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final byte[] forks = streams.forks;
    final byte[] lows = streams.low;
    final byte[] highs = streams.high;
    final int[] timesAt = streams.timesAt;
    final PackedModel model = this.model;
    final Site back = model.back;
    Site[] sites = model.sites;
    int forksAtEntry = streams.forksAt[RecordBatch.ENTRY];
    int forksAtExit = streams.forksAt[RecordBatch.EXIT];
    long forkAtDepth = model.forkAtDepth;
    Point point = model.point;
    Frame frame = model.frame;
    int previous = model.previous;
    int next = model.next;
    int handedOver = from;
    long last = from == 0 ? 0 : times[from - 1];
    for (int i = from; i < end; i++) {
      final Point here = point;
      final int kind = kinds[i];
      final long delta = times[i] - last;
      last = times[i];
      Site site = here.zero;
      long foretold = here.zeroTime;
      int told = 0;
      int depth = next;
      boolean usual = false;
      if (kind == RecordBatch.EXIT) {
        if (site != back) {
          site = here.one;
          foretold = here.oneTime;
          told = 1;
        }
        Frame caller = frame.caller;
        if (site == back
            && caller != null
            && here.visits > 0
            && isUsual(delta, foretold)
            && depths[i] == depth - 1
            && selfPcs[i] == frame.selfPc
            && fromPcs[i] == frame.fromPc
            && retPs[i] == frame.retP
            && fps[i] == frame.fp) {
          point = sites[frame.site];
          frame = caller;
          next = depth - 1;
          usual = true;
        }
      } else if (kind == RecordBatch.ENTRY) {
        final long fromPc = fromPcs[i];
        if (site == null || site.address != fromPc) {
          site = here.one;
          foretold = here.oneTime;
          told = 1;
        }
        Frame callee = frame.callee;
        if (site != null
            && site.address == fromPc
            && site != back
            && callee != null
            && site.plain
            && here.visits > 0
            && frame.known
            && isUsual(delta, foretold)
            && depths[i] == depth) {
          final Function function = site.callee;
          final long selfPc = function.address;
          final long retP = model.foretoldRetP(frame, site, function);
          final long fp = PackedModel.foretoldFp(frame, site);
          if (selfPcs[i] == selfPc && retPs[i] == retP && fps[i] == fp) {
            callee.selfPc = selfPc;
            callee.fromPc = fromPc;
            callee.retP = retP;
            callee.fp = fp;
            callee.site = site.number;
            point = function;
            frame = callee;
            next = depth + 1;
            usual = true;
          }
        }
      }
      if (!usual) {
        streams.forksAt[RecordBatch.ENTRY] = forksAtEntry;
        streams.forksAt[RecordBatch.EXIT] = forksAtExit;
        model.forkAtDepth = forkAtDepth;
        model.point = point;
        model.previous = previous;
        model.frame = frame;
        model.next = next;
        record(batch, i, i - handedOver);
        handedOver = i + 1;
        forksAtEntry = streams.forksAt[RecordBatch.ENTRY];
        forksAtExit = streams.forksAt[RecordBatch.EXIT];
        forkAtDepth = model.forkAtDepth;
        point = model.point;
        frame = model.frame;
        previous = model.previous;
        next = model.next;
        sites = model.sites;
        continue;
      }
      if (foretold < 0) {
        int low = timesAt[timeContext(previous, kind)]++;
        lows[low] = (byte) delta;
        highs[low] = (byte) (delta >>> 8);
      }
      final int fork = here.fork;
      final int entered = previous - 1; // all ones after an ENTRY
      final int changed = told ^ ((int) (forkAtDepth >>> depth) & fork & entered);
      forks[forksAtExit ^ ((forksAtExit ^ forksAtEntry) & entered)] = (byte) changed;
      forksAtEntry += fork & entered;
      forksAtExit += fork & ~entered;
      forkAtDepth ^= (long) (changed & fork & entered) << depth;
      here.visits--;
      previous = kind;
    }
    streams.forksAt[RecordBatch.ENTRY] = forksAtEntry;
    streams.forksAt[RecordBatch.EXIT] = forksAtExit;
    model.forkAtDepth = forkAtDepth;
    model.point = point;
    model.previous = previous;
    model.frame = frame;
    model.next = next;
    return end - handedOver;
  }

  /** True where the time is as predicted, or of the usual length where there is no prediction. */
  private static boolean isUsual(long delta, long foretold) {
    return foretold >= 0 ? delta == foretold : delta >= 0 && delta >>> 8 < HIGH_LONG;
  }

  /**
   * Packs any record.
   *
   * @param usual how many the loop has packed since the last one that was packed here
   */
  private void record(RecordBatch batch, int i, int usual) {
    gap += usual;
    long delta = batch.time[i] - (i == 0 ? 0 : batch.time[i - 1]);
    switch (batch.kind[i]) {
      case RecordBatch.ENTRY -> entry(batch, i, delta);
      case RecordBatch.EXIT -> exit(batch, i, delta);
      case RecordBatch.LOST -> lost(batch, i, delta);
      default -> throw new IllegalArgumentException("record " + i + " is of kind " + batch.kind[i]);
    }
  }

  private void entry(RecordBatch batch, int i, long delta) {
    int depth = batch.depth[i];
    long selfPc = batch.selfPc[i];
    long fromPc = batch.fromPc[i];
    long retP = batch.retP[i];
    long fp = batch.fp[i];
    Site site = model.sites[siteNumbers.get(fromPc)];
    Function function = model.functions[functionNumbers.get(selfPc)];
    final boolean siteNew = site.number == NEW;
    final boolean functionNew = function.number == NEW;
    final boolean retPVaries = site.retPVaries();
    final boolean fpVaries = site.fpVaries();
    final Point point = model.point;
    final int slot = siteNew ? -1 : point.slotOf(site);
    int form = time(slot, delta) | (point.isForetold(slot) ? 0 : SUCCESSOR);
    boolean calleeSure = !siteNew && site.sureness == PackedModel.SURE;
    if (calleeSure && function != site.callee) {
      form |= CALLEE;
    }
    final int foretoldDepth = model.next;
    if (depth != foretoldDepth) {
      form |= DEPTH;
      model.leaveForEntry(depth);
    }
    boolean callerUnknown = !model.frame.known;
    boolean retPCoded = siteNew || functionNew || callerUnknown || retPVaries;
    if (!retPCoded && retP != model.foretoldRetP(site, function)) {
      form |= RET_P;
    }
    boolean fpCoded = siteNew || callerUnknown || fpVaries;
    if (!fpCoded && fp != model.foretoldFp(site)) {
      form |= FP;
    }
    escape(form, depth - foretoldDepth);
    putSuccessor(slot, site, form);
    time(slot, form, RecordBatch.ENTRY, delta);
    if (siteNew) {
      site = newSite(fromPc, PackedModel.placeBefore(batch, i));
    }
    if (!calleeSure || (form & CALLEE) != 0) {
      PackedStreams.symbol(streams.sinks[FUNCTIONS], function.number);
      if (functionNew) {
        function = newFunction(selfPc);
      }
    }
    point.learn(slot, site.number == NEW ? null : site, delta);
    site.learnCallee(function);
    if (retPCoded || (form & RET_P) != 0) {
      streams.number(RET_PS, retP - model.expectedRetP(site, siteNew));
      if ((form & RET_P) != 0) {
        model.strikeRetP(site);
      }
      model.learnRetP(site, siteNew, function, functionNew, retP);
    }
    if (fpCoded || (form & FP) != 0) {
      streams.number(FPS, fp - model.expectedFp(site, siteNew, retP));
      if ((form & FP) != 0) {
        model.strikeFp(site);
      }
      model.learnFp(site, siteNew, fp);
    }
    model.enter(i, depth, site, function, selfPc, fromPc, retP, fp);
  }

  private void exit(RecordBatch batch, int i, long delta) {
    int depth = batch.depth[i];
    long selfPc = batch.selfPc[i];
    long fromPc = batch.fromPc[i];
    long retP = batch.retP[i];
    long fp = batch.fp[i];
    final Point point = model.point;
    final int slot = point.slotOf(model.back);
    int form = time(slot, delta) | (point.isForetold(slot) ? 0 : SUCCESSOR);
    int foretoldDepth = model.next - 1;
    if (depth != foretoldDepth) {
      form |= DEPTH;
      model.leaveForExit(depth);
    }
    Frame frame = model.frame;
    if (frame != model.base) {
      form |=
          (selfPc == frame.selfPc ? 0 : SELF_PC)
              | (fromPc == frame.fromPc ? 0 : FROM_PC)
              | (retP == frame.retP ? 0 : RET_P)
              | (fp == frame.fp ? 0 : FP);
    }
    escape(form, depth - foretoldDepth);
    putSuccessor(slot, model.back, form);
    time(slot, form, RecordBatch.EXIT, delta);
    point.learn(slot, model.back, delta);
    if (frame != model.base) {
      departure(form & SELF_PC, selfPc, frame.selfPc);
      departure(form & FROM_PC, fromPc, frame.fromPc);
      departure(form & RET_P, retP, frame.retP);
      departure(form & FP, fp, frame.fp);
      model.exit(depth, (form & FROM_PC) != 0);
    } else {
      int function = functionNumbers.get(selfPc);
      PackedStreams.symbol(streams.sinks[FUNCTIONS], function);
      if (function == NEW) {
        newFunction(selfPc);
      }
      Site site = model.sites[siteNumbers.get(fromPc)];
      PackedStreams.symbol(streams.sinks[SUCCESSORS + model.previous], site.number);
      if (site.number == NEW) {
        site = newSite(fromPc, selfPc);
      }
      streams.number(RET_PS, retP - frame.retP);
      streams.number(FPS, fp - retP);
      model.exitUnknown(depth, site, retP, fp);
    }
  }

  private void lost(RecordBatch batch, int i, long delta) {
    ByteSink escapes = streams.sinks[ESCAPES];
    escapes.reserve(64);
    escapes.varint(gap);
    gap = 0;
    escapes.put(0);
    escapes.varint(batch.selfPc[i]);
    escapes.zigzag(batch.depth[i]);
    escapes.zigzag(batch.fromPc[i]);
    escapes.zigzag(batch.retP[i]);
    escapes.zigzag(batch.fp[i]);
    streams.time(timeContext(model.previous, RecordBatch.ENTRY), delta);
    model.lost();
  }

  private void escape(int form, int departure) {
    if (form == 0) {
      gap++;
      return;
    }
    ByteSink escapes = streams.sinks[ESCAPES];
    escapes.reserve(64);
    escapes.varint(gap);
    gap = 0;
    escapes.put(form);
    if ((form & DEPTH) != 0) {
      escapes.zigzag(departure);
    }
  }

  private void departure(int coded, long value, long foretold) {
    if (coded != 0) {
      streams.sinks[ESCAPES].zigzag(value - foretold);
    }
  }

  private void putSuccessor(int slot, Site successor, int form) {
    Point point = model.point;
    if ((form & SUCCESSOR) == 0) {
      if (point.mode == Point.CERTAIN) {
        return;
      }
      if (point.mode == Point.FORK) {
        int bit = (slot == 0 ? 0 : 1) ^ point.flip;
        if (model.previous == RecordBatch.ENTRY) {
          bit ^= model.forkAtDepth();
          model.forkAtDepth(bit);
        }
        streams.fork(model.previous, bit);
        if (slot >= 0) {
          return;
        }
      }
    }
    PackedStreams.symbol(streams.sinks[SUCCESSORS + model.previous], successor.number);
  }

  /** What the time says for the escape byte. */
  private int time(int slot, long delta) {
    return slot >= 0 && model.point.way(slot).isSure() && delta != model.point.way(slot).time
        ? TIME
        : 0;
  }

  private void time(int slot, int form, int kind, long delta) {
    if (slot < 0 || !model.point.way(slot).isSure() || (form & TIME) != 0) {
      streams.time(timeContext(model.previous, kind), delta);
    }
  }

  private Site newSite(long address, long here) {
    streams.number(SITES + model.previous, address - here);
    Site site = model.addSite(address);
    if (site.number != NEW) {
      siteNumbers.put(address, site.number);
    }
    return site;
  }

  private Function newFunction(long address) {
    streams.number(FUNCTION_PAGES, (address >> 8) - (model.lastFunction >> 8));
    streams.sinks[FUNCTION_BYTES].reserve(1);
    streams.sinks[FUNCTION_BYTES].put((int) address);
    Function function = model.addFunction(address);
    if (function.number != NEW) {
      functionNumbers.put(address, function.number);
    }
    return function;
  }

  boolean isOutsized() {
    return model.isOutsized();
  }
}
