package dev.retstack.schema.codec.packed;

import static dev.retstack.schema.codec.packed.PackedLayout.*;

import dev.retstack.schema.codec.ByteSource;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.packed.PackedModel.Frame;
import dev.retstack.schema.codec.packed.PackedModel.Function;
import dev.retstack.schema.codec.packed.PackedModel.Point;
import dev.retstack.schema.codec.packed.PackedModel.Site;
import dev.retstack.schema.codec.packed.PackedModel.Way;
import dev.retstack.schema.record.RecordBatch;

/**
 * Unpacks the ENTRY, EXIT and LOST records of one chunk after the other; mirror of {@link
 * PackedEncoder}.
 */
final class PackedDecoder {
  private final PackedModel model = new PackedModel();
  private final PackedSource source;
  private ByteSource escapes;
  private RecordBatch into;
  private int[] links;

  /** Slot in which the point held the successor; -1: none. */
  private int slot;

  PackedDecoder(PackedSource source) {
    this.source = source;
  }

  /** Unpacks {@code count} records into a batch that is empty and has room for them. */
  void decode(int count, RecordBatch batch) throws CorruptChunkException {
    model.reset();
    escapes = source.stream(ESCAPES);
    into = batch;
    links = batch.links();
    boolean lost = false;
    int done = 0;
    while (done < count) {
      int end = done + gap(count - done);
      while (done < end) {
        int from = done;
        done = Math.min(end, from + SLICE_RECORDS);
        runUsual(into, from, done);
      }
      if (done < count) {
        int form = escapes.get();
        if (form == 0) {
          lost();
          lost = true;
        } else {
          record(form);
        }
        done++;
      }
    }
    if (lost) {
      unlinkAcrossLoss(count);
    }
    batch.setLinked();
  }

  /** Takes back what links records although some were lost in between. */
  private void unlinkAcrossLoss(int count) {
    int floor = 0;
    for (int i = 0; i < count; i++) {
      if (into.kind[i] == RecordBatch.LOST) {
        floor = i + 1;
      } else if (into.kind[i] == RecordBatch.EXIT ? links[i] < floor : i == floor) {
        links[i] = RecordBatch.UNLINKED;
      }
    }
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

  // The loop that nearly all records take: those by a successor known well, with every field as
  // predicted. For these it does what record() does, many times faster, because its state stays in
  // local variables. It leaves the others to record().

  /** Unpacks the records {@code from} up to {@code end}, all of which come without an escape. */
  void runUsual(RecordBatch batch, int from, int end) throws CorruptChunkException {
    final byte[] kinds = batch.kind;
    final int[] depths = batch.depth;
    final int[] links = batch.links();
    final long[] times = batch.time;
    final long[] selfPcs = batch.selfPc;
    final long[] fromPcs = batch.fromPc;
    final long[] retPs = batch.retP;
    final long[] fps = batch.fp;
    final long[] forks = source.forks;
    final byte[] content = source.content;
    final int[] lowAt = source.lowAt;
    final int[] lowEnd = source.lowEnd;
    final int highBehind = source.highBehind;
    final PackedModel model = this.model;
    final Site back = model.back;
    int forksAtEntry = source.forksAt[RecordBatch.ENTRY];
    int forksAtExit = source.forksAt[RecordBatch.EXIT];
    long forkAtDepth = model.forkAtDepth;
    Point point = model.point;
    Frame frame = model.frame;
    int previous = model.previous;
    int next = model.next;
    long now = from == 0 ? 0 : times[from - 1];
    for (int i = from; i < end; i++) {
      Site site = point.zero;
      Site one = point.one;
      long delta = point.zeroTime;
      long oneTime = point.oneTime;
      final int visits = point.visits;
      final int fork = point.fork;
      final int entered = previous - 1; // all ones after an ENTRY
      final int forksAt = forksAtExit ^ ((forksAtExit ^ forksAtEntry) & entered);
      final int bit = (int) (forks[forksAt >>> 6] >>> forksAt) & fork;
      final int told = bit ^ ((int) (forkAtDepth >>> next) & fork & entered);
      if (told != 0) {
        site = one;
        delta = oneTime;
      }
      int timeOf = -1;
      if (delta < 0) {
        timeOf = timeContext(previous, site == back ? RecordBatch.EXIT : RecordBatch.ENTRY);
        int low = lowAt[timeOf];
        if (low < lowEnd[timeOf] && content[low + highBehind] != (byte) HIGH_LONG) {
          delta = (content[low] & 0xff) | (content[low + highBehind] & 0xff) << 8;
        }
      }
      Frame to = site == back ? frame.caller : frame.callee;
      if (site == null || to == null || delta < 0 || !site.plain || !frame.known || visits <= 0) {
        source.forksAt[RecordBatch.ENTRY] = forksAtEntry;
        source.forksAt[RecordBatch.EXIT] = forksAtExit;
        model.forkAtDepth = forkAtDepth;
        model.point = point;
        model.previous = previous;
        model.frame = frame;
        model.next = next;
        batch.setSize(i);
        record(0);
        forksAtEntry = source.forksAt[RecordBatch.ENTRY];
        forksAtExit = source.forksAt[RecordBatch.EXIT];
        forkAtDepth = model.forkAtDepth;
        point = model.point;
        frame = model.frame;
        previous = model.previous;
        next = model.next;
        now = times[i];
        continue;
      }
      forkAtDepth ^= (long) (bit & entered) << next;
      forksAtEntry += fork & entered;
      forksAtExit += fork & ~entered;
      point.visits = visits - 1;
      if (timeOf >= 0) {
        lowAt[timeOf]++;
      }
      now += delta;
      times[i] = now;
      if (site == back) {
        kinds[i] = RecordBatch.EXIT;
        selfPcs[i] = frame.selfPc;
        fromPcs[i] = frame.fromPc;
        retPs[i] = frame.retP;
        fps[i] = frame.fp;
        links[i] = frame.entry;
        next--;
        depths[i] = next;
        point = model.sites[frame.site];
        previous = RecordBatch.EXIT;
      } else {
        Function function = site.callee;
        long selfPc = function.address;
        long fromPc = site.address;
        long retP = model.foretoldRetP(frame, site, function);
        long fp = PackedModel.foretoldFp(frame, site);
        to.selfPc = selfPc;
        to.fromPc = fromPc;
        to.retP = retP;
        to.fp = fp;
        to.entry = i;
        to.site = site.number;
        kinds[i] = RecordBatch.ENTRY;
        selfPcs[i] = selfPc;
        fromPcs[i] = fromPc;
        retPs[i] = retP;
        fps[i] = fp;
        links[i] = site.link;
        depths[i] = next;
        next++;
        point = function;
        previous = RecordBatch.ENTRY;
      }
      frame = to;
    }
    source.forksAt[RecordBatch.ENTRY] = forksAtEntry;
    source.forksAt[RecordBatch.EXIT] = forksAtExit;
    model.forkAtDepth = forkAtDepth;
    model.point = point;
    model.previous = previous;
    model.frame = frame;
    model.next = next;
    batch.setSize(end);
  }

  private void record(int form) throws CorruptChunkException {
    Site successor = successor(form);
    if (successor == model.back) {
      exit(form);
    } else {
      entry(form, successor);
    }
  }

  /** Which site calls next, {@link PackedModel#back} for a return; the first one for a new site. */
  private Site successor(int form) throws CorruptChunkException {
    Point point = model.point;
    slot = -1;
    if ((form & SUCCESSOR) != 0) {
      if (point.isForetold(-1)) {
        throw refused(form);
      }
    } else if (point.mode == Point.CERTAIN) {
      slot = 0;
      return point.way(0).site;
    } else if (point.mode == Point.FORK) {
      int bit = source.fork(model.previous);
      if (model.previous == RecordBatch.ENTRY) {
        int changed = bit;
        bit ^= model.forkAtDepth();
        model.forkAtDepth(changed);
      }
      int chosen = bit ^ point.flip;
      Way way = point.way(chosen);
      if (way.site != null) {
        slot = chosen;
        return way.site;
      }
    }
    Site successor = model.sites[source.symbol(SUCCESSORS + model.previous, model.siteCount)];
    if (successor.number != NEW && point.slotOf(successor) >= 0) {
      throw new CorruptChunkException(
          "successor " + successor.number + " coded although predicted");
    }
    return successor;
  }

  private void entry(int form, Site successor) throws CorruptChunkException {
    if ((form & ~(SUCCESSOR | CALLEE | TIME | DEPTH | RET_P | FP)) != 0) {
      throw refused(form);
    }
    int depth = model.next;
    if ((form & DEPTH) != 0) {
      depth += departure();
      model.leaveForEntry(depth);
    }
    final long delta = time(form, RecordBatch.ENTRY);
    final boolean siteNew = successor.number == NEW;
    final boolean retPVaries = successor.retPVaries();
    final boolean fpVaries = successor.fpVaries();
    Site site = successor;
    long fromPc;
    if (siteNew) {
      fromPc =
          PackedModel.placeBefore(into, into.size())
              + source.stream(SITES + model.previous).zigzag();
      site = model.addSite(fromPc);
    } else {
      fromPc = site.address;
    }
    boolean calleeSure = !siteNew && site.sureness == PackedModel.SURE;
    if ((form & CALLEE) != 0 && !calleeSure) {
      throw refused(form);
    }
    Function function = site.callee;
    boolean functionNew = false;
    long selfPc;
    if (!calleeSure || (form & CALLEE) != 0) {
      int symbol = source.symbol(FUNCTIONS, model.functionCount);
      if ((form & CALLEE) != 0 && symbol == function.number) {
        throw new CorruptChunkException("callee " + symbol + " coded although predicted");
      }
      function = model.functions[symbol];
      functionNew = symbol == NEW;
    }
    if (functionNew) {
      selfPc = newAddress();
      function = model.addFunction(selfPc);
    } else {
      selfPc = function.address;
    }
    model.point.learn(slot, site.number == NEW ? null : site, delta);
    site.learnCallee(function);
    boolean callerUnknown = !model.frame.known;
    boolean retPCoded = siteNew || functionNew || callerUnknown || retPVaries;
    boolean fpCoded = siteNew || callerUnknown || fpVaries;
    if ((retPCoded && (form & RET_P) != 0) || (fpCoded && (form & FP) != 0)) {
      throw refused(form);
    }
    long retP;
    if (retPCoded || (form & RET_P) != 0) {
      retP = model.expectedRetP(site, siteNew) + source.stream(RET_PS).zigzag();
      if ((form & RET_P) != 0) {
        differs(retP, model.foretoldRetP(site, function));
        model.strikeRetP(site);
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
        model.strikeFp(site);
      }
      model.learnFp(site, siteNew, fp);
    } else {
      fp = model.foretoldFp(site);
    }
    int done = into.size();
    model.enter(done, depth, site, function, selfPc, fromPc, retP, fp);
    boolean linked =
        done > 0 && (form & DEPTH) == 0 && site.number != NEW && function.number != NEW;
    links[done] = linked ? site.link : RecordBatch.UNLINKED;
    into.add(RecordBatch.ENTRY, timeBefore() + delta, depth, selfPc, fromPc, retP, fp);
  }

  private void exit(int form) throws CorruptChunkException {
    if ((form & CALLEE) != 0) {
      throw refused(form);
    }
    int depth = model.next - 1;
    if ((form & DEPTH) != 0) {
      depth += departure();
      model.leaveForExit(depth);
    }
    final long delta = time(form, RecordBatch.EXIT);
    model.point.learn(slot, model.back, delta);
    int link = RecordBatch.UNLINKED;
    Frame frame = model.frame;
    long selfPc;
    long fromPc;
    long retP;
    long fp;
    if (frame != model.base) {
      selfPc = field(form & SELF_PC, frame.selfPc);
      fromPc = field(form & FROM_PC, frame.fromPc);
      retP = field(form & RET_P, frame.retP);
      fp = field(form & FP, frame.fp);
      if ((form & (DEPTH | SELF_PC | FROM_PC | RET_P | FP)) == 0) {
        link = frame.entry;
      }
      model.exit(depth, (form & FROM_PC) != 0);
    } else {
      if ((form & (SELF_PC | FROM_PC | RET_P | FP)) != 0) {
        throw refused(form);
      }
      int function = source.symbol(FUNCTIONS, model.functionCount);
      if (function == NEW) {
        selfPc = newAddress();
        model.addFunction(selfPc);
      } else {
        selfPc = model.functions[function].address;
      }
      int symbol = source.symbol(SUCCESSORS + model.previous, model.siteCount);
      if (symbol == RETURN) {
        throw new CorruptChunkException("no site has the number " + RETURN);
      }
      Site site = model.sites[symbol];
      if (symbol == NEW) {
        fromPc = selfPc + source.stream(SITES + model.previous).zigzag();
        site = model.addSite(fromPc);
      } else {
        fromPc = site.address;
      }
      retP = frame.retP + source.stream(RET_PS).zigzag();
      fp = retP + source.stream(FPS).zigzag();
      model.exitUnknown(depth, site, retP, fp);
    }
    links[into.size()] = link;
    into.add(RecordBatch.EXIT, timeBefore() + delta, depth, selfPc, fromPc, retP, fp);
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
    long delta = source.time(timeContext(model.previous, RecordBatch.ENTRY));
    links[into.size()] = RecordBatch.UNLINKED;
    into.add(RecordBatch.LOST, timeBefore() + delta, (int) depth, records, fromPc, retP, fp);
    model.lost();
  }

  /** Reads or predicts the time since the record before. */
  private long time(int form, int kind) throws CorruptChunkException {
    Way way = slot < 0 ? null : model.point.way(slot);
    boolean sure = way != null && way.isSure();
    if (!sure && (form & TIME) != 0) {
      throw refused(form);
    }
    if (sure && (form & TIME) == 0) {
      return way.time;
    }
    long delta = source.time(timeContext(model.previous, kind));
    if (sure) {
      differs(delta, way.time);
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
          "depth changes by " + departure + ", beyond 32 bits, at byte " + escapes.position());
    }
    return (int) departure;
  }

  private long field(int coded, long foretold) throws CorruptChunkException {
    return coded == 0 ? foretold : foretold + escapes.departure();
  }

  private void differs(long value, long foretold) throws CorruptChunkException {
    if (value == foretold) {
      throw new CorruptChunkException(
          "escape before byte " + escapes.position() + " names a field that was predicted");
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

  boolean isOutsized() {
    return model.isOutsized();
  }
}
