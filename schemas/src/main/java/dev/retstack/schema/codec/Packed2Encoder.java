package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;
import static dev.retstack.schema.codec.Packed2Model.*;
import static dev.retstack.schema.codec.Packed2Point.*;

/** Packs the records of one chunk after the other; {@link Packed2Decoder} is its mirror. */
final class Packed2Encoder implements ScratchPool.Scratch {
  private final Packed2Model model = new Packed2Model();
  private final AddressIndex siteNumbers = new AddressIndex();
  private final AddressIndex functionNumbers = new AddressIndex();
  private final Packed2Streams streams = new Packed2Streams();
  private final PayloadWriter writer = new PayloadWriter();
  private final Packed2EncoderLoop loop =
      new Packed2EncoderLoop(model, streams, siteNumbers, functionNumbers);

  /** Records since the last escape. */
  private long gap;

  /** The payload of a chunk that holds the batch. */
  byte[] encode(RecordBatch batch) {
    int count = batch.size();
    if (count == 0) {
      return new byte[] {PayloadReader.PLAIN};
    }
    model.reset(batch, count);
    siteNumbers.clear();
    functionNumbers.clear();
    streams.reset(count);
    gap = 0;
    int done = 0;
    while (done < count) {
      int usual = loop.run(batch, done);
      gap += usual - done;
      done = usual;
      if (done < count) {
        record(batch, done++);
      }
    }
    return streams.wrap(writer);
  }

  /** Packs any record. */
  private void record(RecordBatch batch, int i) {
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
    int site = siteNumbers.get(fromPc);
    int function = functionNumbers.get(selfPc);
    final boolean siteNew = site == NEW;
    final boolean functionNew = function == NEW;
    long state = model.points[model.point << POINT_BITS];
    int slot = slotOf(state, site);
    long siteState = model.sites[(site << SITE_BITS) + SITE_STATE];
    int form = time(state, slot, delta) | (isForetold(state, slot) ? 0 : SUCCESSOR);
    int sureness = siteNew ? UNSURE : (int) siteState & CALLEE_SURENESS;
    if (sureness == SURE && function != siteState >>> CALLEE_SHIFT) {
      form |= CALLEE;
    }
    final int foretoldDepth = model.next;
    final int forkDepth = model.next;
    if (depth != foretoldDepth) {
      form |= DEPTH;
      model.leaveForEntry(depth);
    }
    boolean callerUnknown = model.callerUnknown();
    boolean retPCoded = siteNew || functionNew || callerUnknown || retPVaries(siteState);
    if (!retPCoded && retP != model.foretoldRetP(site, function)) {
      form |= RET_P;
    }
    boolean fpCoded = siteNew || callerUnknown || fpVaries(siteState);
    if (!fpCoded && fp != model.foretoldFp(site)) {
      form |= FP;
    }
    escape(form, depth - foretoldDepth);
    putSuccessor(state, slot, site, form, forkDepth);
    time(state, slot, form, RecordBatch.ENTRY, delta);
    if (siteNew) {
      site = newSite(fromPc, batch.placeBefore(i));
    }
    if (sureness != SURE || (form & CALLEE) != 0) {
      Packed2Streams.symbol(streams.sinks[FUNCTIONS], function);
      if (functionNew) {
        function = newFunction(selfPc);
      }
    }
    model.learnSuccessor(slot, site, delta);
    model.learnCallee(site, function);
    if (retPCoded || (form & RET_P) != 0) {
      streams.number(RET_PS, retP - model.expectedRetP(site, siteNew));
      if ((form & RET_P) != 0) {
        model.strike(site, RET_P_STRIKES_SHIFT);
      }
      model.learnRetP(site, siteNew, function, functionNew, retP);
    }
    if (fpCoded || (form & FP) != 0) {
      streams.number(FPS, fp - model.expectedFp(site, siteNew, retP));
      if ((form & FP) != 0) {
        model.strike(site, FP_STRIKES_SHIFT);
      }
      model.learnFp(site, siteNew, fp);
    }
    model.enter(i, depth, site, function);
  }

  private void exit(RecordBatch batch, int i, long delta) {
    int depth = batch.depth[i];
    long selfPc = batch.selfPc[i];
    long fromPc = batch.fromPc[i];
    long retP = batch.retP[i];
    long fp = batch.fp[i];
    long state = model.points[model.point << POINT_BITS];
    int slot = slotOf(state, RETURN);
    int form = time(state, slot, delta) | (isForetold(state, slot) ? 0 : SUCCESSOR);
    int foretoldDepth = model.next - 1;
    final int forkDepth = model.next;
    if (depth != foretoldDepth) {
      form |= DEPTH;
      model.leaveForExit(depth);
    }
    int entry = (int) model.frames[model.top];
    if (model.top > 0) {
      form |=
          (selfPc == batch.selfPc[entry] ? 0 : SELF_PC)
              | (fromPc == batch.fromPc[entry] ? 0 : FROM_PC)
              | (retP == batch.retP[entry] ? 0 : RET_P)
              | (fp == batch.fp[entry] ? 0 : FP);
    }
    escape(form, depth - foretoldDepth);
    putSuccessor(state, slot, RETURN, form, forkDepth);
    time(state, slot, form, RecordBatch.EXIT, delta);
    model.learnSuccessor(slot, RETURN, delta);
    if (model.top > 0) {
      departure(form & SELF_PC, selfPc, batch.selfPc[entry]);
      departure(form & FROM_PC, fromPc, batch.fromPc[entry]);
      departure(form & RET_P, retP, batch.retP[entry]);
      departure(form & FP, fp, batch.fp[entry]);
      model.exit(
          depth,
          (form & FROM_PC) != 0 ? NEW : (int) (model.frames[model.top] >>> FRAME_SITE_SHIFT));
    } else {
      int function = functionNumbers.get(selfPc);
      Packed2Streams.symbol(streams.sinks[FUNCTIONS], function);
      if (function == NEW) {
        newFunction(selfPc);
      }
      int site = siteNumbers.get(fromPc);
      Packed2Streams.symbol(streams.sinks[SUCCESSORS + model.previous], site);
      if (site == NEW) {
        site = newSite(fromPc, selfPc);
      }
      streams.number(RET_PS, retP - model.callerRetP());
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

  private void putSuccessor(long state, int slot, int symbol, int form, int forkDepth) {
    if ((form & SUCCESSOR) == 0) {
      int mode = (int) (state & MODE);
      if (mode == CERTAIN) {
        return;
      }
      if (mode == FORK) {
        int bit = (slot == 0 ? 0 : 1) ^ flip(state);
        if (model.previous == RecordBatch.ENTRY) {
          byte[] last = model.forkAtDepth;
          int coded = bit ^ last[forkDepth & last.length - 1];
          last[forkDepth & last.length - 1] = (byte) bit;
          streams.forks[0].put(coded);
        } else {
          streams.forks[1].put(bit);
        }
        if (slot >= 0) {
          return;
        }
      }
    }
    Packed2Streams.symbol(streams.sinks[SUCCESSORS + model.previous], symbol);
  }

  /** What the time says for the escape byte. */
  private int time(long state, int slot, long delta) {
    return slot >= 0
            && timing(state, slot) == SURE
            && delta != model.points[(model.point << POINT_BITS) + TIME_0 + slot]
        ? TIME
        : 0;
  }

  private void time(long state, int slot, int form, int kind, long delta) {
    if (slot < 0 || timing(state, slot) != SURE || (form & TIME) != 0) {
      streams.time(timeContext(model.previous, kind), delta);
    }
  }

  private int newSite(long address, long here) {
    streams.number(SITES + model.previous, address - here);
    int site = model.addSite(address);
    if (site != NEW) {
      siteNumbers.put(address, site);
    }
    return site;
  }

  private int newFunction(long address) {
    streams.number(FUNCTION_PAGES, (address >> 8) - (model.lastFunction >> 8));
    streams.sinks[FUNCTION_BYTES].reserve(1);
    streams.sinks[FUNCTION_BYTES].put((int) address);
    int function = model.addFunction(address);
    if (function != NEW) {
      functionNumbers.put(address, function);
    }
    return function;
  }

  @Override
  public boolean isOutsized() {
    return streams.isOutsized() || model.isOutsized();
  }

  @Override
  public void release() {
    writer.release();
  }
}
