package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed2Layout.*;
import static dev.retstack.schema.codec.Packed2Model.*;
import static dev.retstack.schema.codec.Packed2Point.*;

/** Unpacks the records of one chunk after the other; mirror of {@link Packed2Encoder}. */
final class Packed2Decoder implements ScratchPool.Scratch {
  private final Packed2Model model = new Packed2Model();
  private final Packed2Source source = new Packed2Source();
  private final PayloadReader reader = new PayloadReader();
  private final Packed2DecoderLoop loop = new Packed2DecoderLoop(model, source);
  private ByteSource escapes;
  private RecordBatch into;

  /** Slot in which the point held the successor; -1: none. */
  private int slot;

  /** Unpacks the payload of a chunk of {@code count} records. */
  void decode(byte[] payload, int count, RecordBatch batch) throws CorruptChunkException {
    if (count == 0) {
      if (payload.length != 1 || payload[0] != PayloadReader.PLAIN) {
        throw new CorruptChunkException(
            "payload of " + payload.length + " bytes, of a chunk without records");
      }
      return;
    }
    model.reset(batch, count);
    reader.open(payload, HEADER_BYTES_MAX + (long) count * RECORD_BYTES_MAX);
    source.open(reader.content(), reader.from(), reader.to());
    escapes = source.stream(ESCAPES);
    into = batch;
    int done = 0;
    while (done < count) {
      int end = done + gap(count - done);
      while ((done = loop.run(into, done, end)) < end) {
        record(0);
        done++;
      }
      if (done < count) {
        int form = escapes.get();
        if (form == 0) {
          lost();
        } else {
          record(form);
        }
        done++;
      }
    }
    source.checkEnd();
  }

  /** Records until the next escape, or all the rest. */
  private int gap(int rest) throws CorruptChunkException {
    if (escapes.remaining() == 0) {
      return rest;
    }
    long gap = escapes.varint();
    if (gap < 0 || gap >= rest) {
      throw new CorruptChunkException(
          "escape after "
              + Long.toUnsignedString(gap)
              + " more records before byte "
              + escapes.position()
              + ", of "
              + rest
              + " that are left");
    }
    return (int) gap;
  }

  private void record(int form) throws CorruptChunkException {
    int forkDepth = model.next;
    long state = model.points[model.point << POINT_BITS];
    int successor = successor(form, state, forkDepth);
    if (successor == RETURN) {
      exit(form, state);
    } else {
      entry(form, state, successor);
    }
  }

  private int successor(int form, long state, int forkDepth) throws CorruptChunkException {
    slot = -1;
    int mode = (int) (state & MODE);
    if ((form & SUCCESSOR) != 0) {
      if (isForetold(state, -1)) {
        throw refused(form);
      }
    } else if (mode == CERTAIN) {
      slot = 0;
      return Packed2Point.successor(state, 0);
    } else if (mode == FORK) {
      int bit = source.fork(model.previous);
      if (model.previous == RecordBatch.ENTRY) {
        byte[] last = model.forkAtDepth;
        bit ^= last[forkDepth & last.length - 1];
        last[forkDepth & last.length - 1] = (byte) bit;
      }
      int chosen = bit ^ flip(state);
      int successor = Packed2Point.successor(state, chosen);
      if (successor != 0) {
        slot = chosen;
        return successor;
      }
    }
    int symbol = source.symbol(SUCCESSORS + model.previous, model.siteCount);
    if (slotOf(state, symbol) >= 0) {
      throw new CorruptChunkException("successor " + symbol + " coded although foretold");
    }
    return symbol;
  }

  private void entry(int form, long state, int successor) throws CorruptChunkException {
    if ((form & ~(SUCCESSOR | CALLEE | TIME | DEPTH | RET_P | FP)) != 0) {
      throw refused(form);
    }
    int site = successor;
    final boolean siteNew = site == NEW;
    int depth = model.next;
    if ((form & DEPTH) != 0) {
      depth += departure();
      model.leaveForEntry(depth);
    }
    final long delta = time(form, state, RecordBatch.ENTRY);
    final long time = timeBefore() + delta;
    long siteState = model.sites[(site << SITE_BITS) + SITE_STATE];
    long fromPc;
    if (siteNew) {
      fromPc = into.placeBefore(into.size()) + source.stream(SITES + model.previous).zigzag();
      site = model.addSite(fromPc);
    } else {
      fromPc = model.sites[(site << SITE_BITS) + ADDRESS];
    }
    int sureness = siteNew ? UNSURE : (int) siteState & CALLEE_SURENESS;
    if ((form & CALLEE) != 0 && sureness != SURE) {
      throw refused(form);
    }
    int function = (int) (siteState >>> CALLEE_SHIFT);
    boolean functionNew = false;
    long selfPc;
    if (sureness != SURE || (form & CALLEE) != 0) {
      int symbol = source.symbol(FUNCTIONS, model.functionCount);
      if ((form & CALLEE) != 0 && symbol == function) {
        throw new CorruptChunkException("callee " + symbol + " coded although foretold");
      }
      function = symbol;
      functionNew = function == NEW;
    }
    if (functionNew) {
      selfPc = newAddress();
      function = model.addFunction(selfPc);
    } else {
      selfPc = model.functions[(function << FUNCTION_BITS) + ADDRESS];
    }
    model.learnSuccessor(slot, site, delta);
    model.learnCallee(site, function);
    boolean callerUnknown = model.callerUnknown();
    boolean retPCoded = siteNew || functionNew || callerUnknown || retPVaries(siteState);
    boolean fpCoded = siteNew || callerUnknown || fpVaries(siteState);
    if ((retPCoded && (form & RET_P) != 0) || (fpCoded && (form & FP) != 0)) {
      throw refused(form);
    }
    long retP;
    if (retPCoded || (form & RET_P) != 0) {
      retP = model.expectedRetP(site, siteNew) + source.stream(RET_PS).zigzag();
      if ((form & RET_P) != 0) {
        differs(retP, model.foretoldRetP(site, function));
        model.strike(site, RET_P_STRIKES_SHIFT);
      }
      model.learnRetP(site, siteNew, function, functionNew, retP);
    } else {
      retP = model.foretoldRetP(site, function);
    }
    long fp;
    if (fpCoded || (form & FP) != 0) {
      fp = model.expectedFp(site, siteNew, retP) + source.stream(FPS).zigzag();
      if ((form & FP) != 0) {
        differs(fp, model.foretoldFp(site));
        model.strike(site, FP_STRIKES_SHIFT);
      }
      model.learnFp(site, siteNew, fp);
    } else {
      fp = model.foretoldFp(site);
    }
    model.enter(into.size(), depth, site, function);
    into.add(RecordBatch.ENTRY, time, depth, selfPc, fromPc, retP, fp);
  }

  private void exit(int form, long state) throws CorruptChunkException {
    if ((form & CALLEE) != 0) {
      throw refused(form);
    }
    int depth = model.next - 1;
    if ((form & DEPTH) != 0) {
      depth += departure();
      model.leaveForExit(depth);
    }
    final long delta = time(form, state, RecordBatch.EXIT);
    final long time = timeBefore() + delta;
    model.learnSuccessor(slot, RETURN, delta);
    long selfPc;
    long fromPc;
    long retP;
    long fp;
    if (model.top > 0) {
      int entry = (int) model.frames[model.top];
      selfPc = field(form & SELF_PC, into.selfPc[entry]);
      fromPc = field(form & FROM_PC, into.fromPc[entry]);
      retP = field(form & RET_P, into.retP[entry]);
      fp = field(form & FP, into.fp[entry]);
      model.exit(
          depth,
          (form & FROM_PC) != 0 ? NEW : (int) (model.frames[model.top] >>> FRAME_SITE_SHIFT));
    } else {
      if ((form & (SELF_PC | FROM_PC | RET_P | FP)) != 0) {
        throw refused(form);
      }
      int function = source.symbol(FUNCTIONS, model.functionCount);
      if (function == NEW) {
        selfPc = newAddress();
        model.addFunction(selfPc);
      } else {
        selfPc = model.functions[(function << FUNCTION_BITS) + ADDRESS];
      }
      int site = source.symbol(SUCCESSORS + model.previous, model.siteCount);
      if (site == RETURN) {
        throw new CorruptChunkException("no site has the number " + RETURN);
      }
      if (site == NEW) {
        fromPc = selfPc + source.stream(SITES + model.previous).zigzag();
        site = model.addSite(fromPc);
      } else {
        fromPc = model.sites[(site << SITE_BITS) + ADDRESS];
      }
      retP = model.callerRetP() + source.stream(RET_PS).zigzag();
      fp = retP + source.stream(FPS).zigzag();
      model.exitUnknown(depth, site, retP, fp);
    }
    into.add(RecordBatch.EXIT, time, depth, selfPc, fromPc, retP, fp);
  }

  private void lost() throws CorruptChunkException {
    long records = escapes.varint();
    long depth = escapes.zigzag();
    if (depth != (int) depth) {
      throw new CorruptChunkException(
          "depth " + depth + " beyond 32 bits at byte " + escapes.position());
    }
    long fromPc = escapes.zigzag();
    long retP = escapes.zigzag();
    long fp = escapes.zigzag();
    long time = timeBefore() + source.time(timeContext(model.previous, RecordBatch.ENTRY));
    into.add(RecordBatch.LOST, time, (int) depth, records, fromPc, retP, fp);
    model.lost();
  }

  /** Reads or foretells the time since the record before. */
  private long time(int form, long state, int kind) throws CorruptChunkException {
    boolean sure = slot >= 0 && timing(state, slot) == SURE;
    long foretold = sure ? model.points[(model.point << POINT_BITS) + TIME_0 + slot] : 0;
    long delta = foretold;
    if ((form & TIME) != 0) {
      if (!sure) {
        throw refused(form);
      }
      delta = source.time(timeContext(model.previous, kind));
      differs(delta, foretold);
    } else if (!sure) {
      delta = source.time(timeContext(model.previous, kind));
    }
    return delta;
  }

  private long timeBefore() {
    int done = into.size();
    return done == 0 ? 0 : into.time[done - 1];
  }

  private long newAddress() throws CorruptChunkException {
    long page = (model.lastFunction >> 8) + source.stream(FUNCTION_PAGES).zigzag();
    return (page << 8) | source.stream(FUNCTION_BYTES).get();
  }

  private int departure() throws CorruptChunkException {
    long departure = escapes.departure();
    if (departure != (int) departure) {
      throw new CorruptChunkException(
          "depth departs by " + departure + ", beyond 32 bits, at byte " + escapes.position());
    }
    return (int) departure;
  }

  private long field(int coded, long foretold) throws CorruptChunkException {
    return coded == 0 ? foretold : foretold + escapes.departure();
  }

  private void differs(long value, long foretold) throws CorruptChunkException {
    if (value == foretold) {
      throw new CorruptChunkException(
          "escape before byte " + escapes.position() + " names a field that is as foretold");
    }
  }

  private CorruptChunkException refused(int form) {
    return new CorruptChunkException(
        "escape 0x"
            + Integer.toHexString(form)
            + " before byte "
            + escapes.position()
            + " does not fit the records before it");
  }

  @Override
  public boolean isOutsized() {
    return reader.isOutsized() || model.isOutsized();
  }

  @Override
  public void release() {
    reader.release();
  }
}
