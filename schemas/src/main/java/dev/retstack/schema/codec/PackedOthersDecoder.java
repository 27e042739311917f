package dev.retstack.schema.codec;

import static dev.retstack.schema.codec.PackedLayout.*;

import java.util.Arrays;

/**
 * Unpacks the records of a chunk that are not of the graph, and puts them between those that are;
 * mirror of {@link PackedOthersEncoder}.
 */
final class PackedOthersDecoder {
  private final PackedSource source;
  private final PackedFieldsDecoder fields;
  private final PackedArcsDecoder arcs;

  /** Records of the chunk. */
  private int records;

  /** Where the records of the graph stand in the chunk, by their number. */
  private int[] places = new int[0];

  PackedOthersDecoder(PackedSource source) {
    this.source = source;
    fields = new PackedFieldsDecoder(source);
    arcs = new PackedArcsDecoder(source, fields);
  }

  /**
   * Finds out how many there are, without reading them.
   *
   * @param count records of the chunk
   * @return 1 to {@code count}
   */
  int open(int count) throws CorruptChunkException {
    records = count;
    ByteSource runs = source.stream(RUNS);
    final int from = runs.position();
    long total = 0;
    long others = 0;
    int kindBefore = -1;
    while (runs.remaining() > 0) {
      long gap = runs.varint();
      int kind = runs.get();
      long length = runs.varint();
      boolean fits = gap >= 0 && gap < count && length >= 0 && length < count;
      total += gap + length + 1;
      if (!fits || total > count) {
        throw new CorruptChunkException(
            "run before byte " + runs.position() + " is not among " + count + " records");
      }
      if (kind < RecordBatch.FUNCTION || !RecordBatch.isKind(kind)) {
        throw new CorruptChunkException("run of unknown kind " + kind);
      }
      if (gap == 0 && kind == kindBefore) {
        throw new CorruptChunkException("two runs in place of one");
      }
      kindBefore = kind;
      others += length + 1;
    }
    if (others == 0) {
      throw new CorruptChunkException("payload is marked, and no record is of another kind");
    }
    runs.moveTo(from);
    return (int) others;
  }

  /** Makes the chunk's records of those of the graph and the others. */
  void decode(RecordBatch graph, RecordBatch into) throws CorruptChunkException {
    if (places.length < graph.size()) {
      places = new int[graph.capacity()];
    }
    fields.reset();
    arcs.reset(records);
    ByteSource runs = source.stream(RUNS);
    int at = 0;
    boolean oneContext = true;
    while (runs.remaining() > 0) {
      int end = at + (int) runs.varint();
      copy(graph, at, end, into);
      at = end;
      byte kind = (byte) runs.get();
      int length = (int) runs.varint() + 1;
      oneContext &= !RecordBatch.isOfContexts(kind);
      Arrays.fill(into.links(), into.size(), into.size() + length, RecordBatch.UNLINKED);
      if (kind == RecordBatch.FUNCTION) {
        arcs.run(length, into);
      } else {
        for (int i = 0; i < length; i++) {
          fields.record(kind, into);
        }
      }
    }
    copy(graph, at, graph.size(), into);
    if (oneContext) { // else the model's one ret_stack says nothing of how records hang together
      into.setLinked();
    }
  }

  /** Copies records of the graph; an exit is linked to where its entry stands now. */
  private void copy(RecordBatch graph, int from, int end, RecordBatch into) {
    int[] links = graph.links();
    int[] to = into.links();
    int moved = into.size() - from;
    for (int i = from; i < end; i++) {
      places[i] = i + moved;
      boolean ofExit = graph.kind[i] == RecordBatch.EXIT && links[i] >= 0;
      to[i + moved] = ofExit ? places[links[i]] : links[i];
    }
    into.addAll(graph, from, end);
  }
}
