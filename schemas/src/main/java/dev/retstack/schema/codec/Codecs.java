package dev.retstack.schema.codec;

import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The chunk codecs this version knows, by {@link ChunkCodec#id()}. */
public final class Codecs {
  private static final Map<String, ChunkCodec> BY_ID = table(new RecordsCodec(), new PackedCodec());

  private Codecs() {}

  /** The codec a producer uses unless told otherwise. */
  public static ChunkCodec standard() {
    return BY_ID.get("packed");
  }

  /** Ids of all codecs, sorted. */
  public static Set<String> ids() {
    return BY_ID.keySet();
  }

  /**
   * The codec of that id.
   *
   * @throws CorruptChunkException where there is none; the message names those that are known
   */
  public static ChunkCodec byId(String id) throws CorruptChunkException {
    ChunkCodec codec = BY_ID.get(id);
    if (codec == null) {
      throw new CorruptChunkException(
          "unknown codec '" + id + "': this version knows " + String.join(", ", BY_ID.keySet()));
    }
    return codec;
  }

  static void checkCount(int count, RecordBatch into) throws CorruptChunkException {
    if (count < 0 || count > into.capacity()) {
      throw new CorruptChunkException(
          "record count " + count + " is outside 0 to " + into.capacity() + ", the batch's room");
    }
  }

  static void checkEnd(ByteSource source) throws CorruptChunkException {
    if (source.remaining() != 0) {
      throw new CorruptChunkException(
          source.remaining() + " bytes follow the last record, from byte " + source.position());
    }
  }

  private static Map<String, ChunkCodec> table(ChunkCodec... codecs) {
    Map<String, ChunkCodec> table = new TreeMap<>();
    for (ChunkCodec codec : codecs) {
      table.put(codec.id(), codec);
    }
    return Collections.unmodifiableMap(table);
  }
}
