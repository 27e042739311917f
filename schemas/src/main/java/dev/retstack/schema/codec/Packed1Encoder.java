package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.Packed1Layout.*;
import static dev.retstack.schema.codec.ShadowStack.FP;
import static dev.retstack.schema.codec.ShadowStack.FROM_PC;
import static dev.retstack.schema.codec.ShadowStack.RET_P;
import static dev.retstack.schema.codec.ShadowStack.SELF_PC;
import static dev.retstack.schema.codec.ShadowStack.STRIDE;

/** Packs the records of one chunk; {@link Packed1Decoder} is its mirror. One use per chunk. */
final class Packed1Encoder {
  private final ShadowStack stack = new ShadowStack();
  private final EdgeTable edges;
  private final ByteSink sink;

  Packed1Encoder(int records) {
    edges = new EdgeTable(records, true);
    sink = new ByteSink(4 * records + RECORD_BYTES_MAX);
  }

  ByteSink encode(RecordBatch batch) {
    long before = 0;
    for (int i = 0, count = batch.size(); i < count; i++) {
      sink.reserve(RECORD_BYTES_MAX);
      long time = batch.time[i];
      long delta = time - before;
      before = time;
      switch (batch.kind[i]) {
        case RecordBatch.ENTRY -> entry(batch, i, delta);
        case RecordBatch.EXIT -> exit(batch, i, delta);
        case RecordBatch.LOST -> lost(batch, i, delta);
        default -> other(batch, i, delta);
      }
    }
    return sink;
  }

  private void entry(RecordBatch batch, int i, long delta) {
    int depth = batch.depth[i];
    long selfPc = batch.selfPc[i];
    long fromPc = batch.fromPc[i];
    long retP = batch.retP[i];
    long fp = batch.fp[i];
    int foretoldDepth = stack.entryDepth();
    int parent = stack.parentOf(depth) * STRIDE;
    long parentRetP = stack.words[parent + RET_P];
    long parentFp = stack.words[parent + FP];
    int depthForm = depth == foretoldDepth ? 0 : FORM_DEPTH;

    int edge = edges.find(selfPc, fromPc);
    if (edge < 0) {
      sink.tagged(TAG_FORM, TAG_FORM_BITS, delta);
      sink.put(RecordBatch.ENTRY | FORM_SELF_PC | depthForm);
      putDepth(depthForm, depth, foretoldDepth);
      long parentSelfPc = stack.words[parent + SELF_PC];
      sink.zigzag(selfPc - parentSelfPc);
      sink.zigzag(fromPc - parentSelfPc);
      sink.zigzag(retP - parentRetP);
      sink.zigzag(fp - parentRetP);
      edge = edges.add(selfPc, fromPc);
    } else {
      long foretoldRetP = edges.foretoldRetP(edge, parentRetP);
      long foretoldFp = edges.foretoldFp(edge, parentRetP, parentFp);
      int form =
          depthForm | (retP == foretoldRetP ? 0 : FORM_RET_P) | (fp == foretoldFp ? 0 : FORM_FP);
      if (form == 0) {
        sink.tagged(TAG_ENTRY, TAG_ENTRY_BITS, delta);
        sink.varint(edge);
      } else {
        sink.tagged(TAG_FORM, TAG_FORM_BITS, delta);
        sink.put(RecordBatch.ENTRY | form);
        sink.varint(edge);
        putDepth(form, depth, foretoldDepth);
        put(form & FORM_RET_P, retP, foretoldRetP);
        put(form & FORM_FP, fp, foretoldFp);
      }
    }
    if (edge >= 0) {
      edges.learn(edge, parentRetP, parentFp, retP, fp);
    }
    stack.enter(depth, selfPc, fromPc, retP, fp);
  }

  private void exit(RecordBatch batch, int i, long delta) {
    int depth = batch.depth[i];
    long selfPc = batch.selfPc[i];
    long fromPc = batch.fromPc[i];
    long retP = batch.retP[i];
    long fp = batch.fp[i];
    int foretoldDepth = stack.exitDepth();
    int frame = stack.exitingAt(depth);
    int at = frame * STRIDE;
    long[] words = stack.words;
    int form =
        (depth == foretoldDepth ? 0 : FORM_DEPTH)
            | (selfPc == words[at + SELF_PC] ? 0 : FORM_SELF_PC)
            | (fromPc == words[at + FROM_PC] ? 0 : FORM_FROM_PC)
            | (retP == words[at + RET_P] ? 0 : FORM_RET_P)
            | (fp == words[at + FP] ? 0 : FORM_FP);
    if (form == 0) {
      sink.tagged(TAG_EXIT, TAG_EXIT_BITS, delta);
    } else {
      sink.tagged(TAG_FORM, TAG_FORM_BITS, delta);
      sink.put(RecordBatch.EXIT | form);
      putDepth(form, depth, foretoldDepth);
      put(form & FORM_SELF_PC, selfPc, words[at + SELF_PC]);
      put(form & FORM_FROM_PC, fromPc, words[at + FROM_PC]);
      put(form & FORM_RET_P, retP, words[at + RET_P]);
      put(form & FORM_FP, fp, words[at + FP]);
    }
    stack.exit(frame, depth, selfPc, fromPc, retP, fp);
  }

  private void lost(RecordBatch batch, int i, long delta) {
    boolean others = (batch.depth[i] | batch.fromPc[i] | batch.retP[i] | batch.fp[i]) != 0;
    sink.tagged(TAG_FORM, TAG_FORM_BITS, delta);
    sink.put(RecordBatch.LOST | (others ? FORM_OTHERS : 0));
    sink.varint(batch.selfPc[i]);
    if (others) {
      sink.zigzag(batch.depth[i]);
      sink.zigzag(batch.fromPc[i]);
      sink.zigzag(batch.retP[i]);
      sink.zigzag(batch.fp[i]);
    }
  }

  private void other(RecordBatch batch, int i, long delta) {
    int kind = batch.kind[i];
    if (!RecordBatch.isKind(kind)) {
      throw new IllegalArgumentException("record " + i + " is of kind " + kind);
    }
    sink.tagged(TAG_FORM, TAG_FORM_BITS, delta);
    sink.put(FORM_OTHER_KIND | (kind - RecordBatch.FUNCTION) << FORM_OTHER_SHIFT);
    sink.zigzag(batch.depth[i]);
    sink.zigzag(batch.selfPc[i]);
    sink.zigzag(batch.fromPc[i]);
    sink.zigzag(batch.retP[i]);
    sink.zigzag(batch.fp[i]);
  }

  private void putDepth(int form, int depth, int foretold) {
    if ((form & FORM_DEPTH) != 0) {
      sink.zigzag(depth - foretold);
    }
  }

  private void put(int coded, long value, long foretold) {
    if (coded != 0) {
      sink.zigzag(value - foretold);
    }
  }
}
