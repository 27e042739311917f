package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed1Layout.*;
import static dev.retstack.schema.codec.ShadowStack.FP;
import static dev.retstack.schema.codec.ShadowStack.FROM_PC;
import static dev.retstack.schema.codec.ShadowStack.RET_P;
import static dev.retstack.schema.codec.ShadowStack.SELF_PC;
import static dev.retstack.schema.codec.ShadowStack.STRIDE;

/** Unpacks the records of one chunk; mirror of {@link Packed1Encoder}. One use per chunk. */
final class Packed1Decoder {
  private final ShadowStack stack = new ShadowStack();
  private final EdgeTable edges;
  private final ByteSource source;
  private final RecordBatch into;

  Packed1Decoder(ByteSource source, int records, RecordBatch into) {
    this.edges = new EdgeTable(records, false);
    this.source = source;
    this.into = into;
  }

  void decode(int count) throws CorruptChunkException {
    long time = 0;
    for (int i = 0; i < count; i++) {
      int first = source.get();
      if ((first & 1) == TAG_EXIT) {
        time += source.tagged(first, TAG_EXIT_BITS);
        exit(0, time);
      } else if ((first & 3) == TAG_ENTRY) {
        time += source.tagged(first, TAG_ENTRY_BITS);
        knownEntry(0, time);
      } else {
        time += source.tagged(first, TAG_FORM_BITS);
        formed(time);
      }
    }
  }

  private void formed(long time) throws CorruptChunkException {
    int form = source.get();
    switch (form & FORM_KIND) {
      case RecordBatch.ENTRY -> {
        if ((form & FORM_SELF_PC) != 0) {
          allow(form, FORM_SELF_PC | FORM_DEPTH);
          newEntry(form, time);
        } else {
          allow(form, FORM_DEPTH | FORM_RET_P | FORM_FP);
          require(form, form);
          knownEntry(form, time);
        }
      }
      case RecordBatch.EXIT -> {
        allow(form, FORM_DEPTH | FORM_SELF_PC | FORM_FROM_PC | FORM_RET_P | FORM_FP);
        require(form, form & ~FORM_KIND);
        exit(form, time);
      }
      case RecordBatch.LOST -> {
        allow(form, FORM_OTHERS);
        lost(form, time);
      }
      default -> other(form, time);
    }
  }

  private void newEntry(int form, long time) throws CorruptChunkException {
    int depth = depth(form, stack.entryDepth());
    int parent = stack.parentOf(depth) * STRIDE;
    long parentSelfPc = stack.words[parent + SELF_PC];
    long parentRetP = stack.words[parent + RET_P];
    long selfPc = parentSelfPc + source.zigzag();
    long fromPc = parentSelfPc + source.zigzag();
    long retP = parentRetP + source.zigzag();
    long fp = parentRetP + source.zigzag();
    int edge = edges.add(selfPc, fromPc);
    if (edge >= 0) {
      edges.learn(edge, parentRetP, stack.words[parent + FP], retP, fp);
    }
    enter(time, depth, selfPc, fromPc, retP, fp);
  }

  private void knownEntry(int form, long time) throws CorruptChunkException {
    long number = source.varint();
    if (number < 0 || number >= edges.size()) {
      throw new CorruptChunkException(
          "edge "
              + Long.toUnsignedString(number)
              + " of "
              + edges.size()
              + " at byte "
              + source.position());
    }
    int edge = (int) number;
    int depth = depth(form, stack.entryDepth());
    int parent = stack.parentOf(depth) * STRIDE;
    long parentRetP = stack.words[parent + RET_P];
    long parentFp = stack.words[parent + FP];
    long retP = field(form & FORM_RET_P, edges.foretoldRetP(edge, parentRetP));
    long fp = field(form & FORM_FP, edges.foretoldFp(edge, parentRetP, parentFp));
    edges.learn(edge, parentRetP, parentFp, retP, fp);
    enter(time, depth, edges.selfPc(edge), edges.fromPc(edge), retP, fp);
  }

  private void enter(long time, int depth, long selfPc, long fromPc, long retP, long fp) {
    stack.enter(depth, selfPc, fromPc, retP, fp);
    into.add(RecordBatch.ENTRY, time, depth, selfPc, fromPc, retP, fp);
  }

  private void exit(int form, long time) throws CorruptChunkException {
    int depth = depth(form, stack.exitDepth());
    int frame = stack.exitingAt(depth);
    int at = frame * STRIDE;
    long[] words = stack.words;
    long selfPc = field(form & FORM_SELF_PC, words[at + SELF_PC]);
    long fromPc = field(form & FORM_FROM_PC, words[at + FROM_PC]);
    long retP = field(form & FORM_RET_P, words[at + RET_P]);
    long fp = field(form & FORM_FP, words[at + FP]);
    stack.exit(frame, depth, selfPc, fromPc, retP, fp);
    into.add(RecordBatch.EXIT, time, depth, selfPc, fromPc, retP, fp);
  }

  private void lost(int form, long time) throws CorruptChunkException {
    long records = source.varint();
    int depth = 0;
    long fromPc = 0;
    long retP = 0;
    long fp = 0;
    if ((form & FORM_OTHERS) != 0) {
      depth = narrow(source.zigzag());
      fromPc = source.zigzag();
      retP = source.zigzag();
      fp = source.zigzag();
      if ((depth | fromPc | retP | fp) == 0) {
        throw refused(form);
      }
    }
    into.add(RecordBatch.LOST, time, depth, records, fromPc, retP, fp);
  }

  private void other(int form, long time) throws CorruptChunkException {
    int kind = RecordBatch.FUNCTION + (form >> FORM_OTHER_SHIFT);
    if (!RecordBatch.isKind(kind)) {
      throw refused(form);
    }
    int depth = narrow(source.zigzag());
    long selfPc = source.zigzag();
    long fromPc = source.zigzag();
    long retP = source.zigzag();
    into.add((byte) kind, time, depth, selfPc, fromPc, retP, source.zigzag());
  }

  private int depth(int form, int foretold) throws CorruptChunkException {
    return (form & FORM_DEPTH) == 0 ? foretold : foretold + narrow(source.departure());
  }

  private long field(int coded, long foretold) throws CorruptChunkException {
    return coded == 0 ? foretold : foretold + source.departure();
  }

  private int narrow(long value) throws CorruptChunkException {
    if (value != (int) value) {
      throw new CorruptChunkException(
          "depth " + value + " beyond 32 bits at byte " + source.position());
    }
    return (int) value;
  }

  private void allow(int form, int bits) throws CorruptChunkException {
    if ((form & ~FORM_KIND & ~bits) != 0) {
      throw refused(form);
    }
  }

  private void require(int form, int bits) throws CorruptChunkException {
    if (bits == 0) {
      throw refused(form);
    }
  }

  private CorruptChunkException refused(int form) {
    return new CorruptChunkException(
        "form byte 0x"
            + Integer.toHexString(form)
            + " before byte "
            + source.position()
            + " is none this version knows");
  }
}
