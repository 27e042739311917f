package dev.retstack.schema.chunk;

import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordsCodec;
import dev.retstack.schema.codec.packed.PackedCodec;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/** The chunk codecs of this version, by {@link ChunkCodec#id()}. */
public final class Codecs {
  private static final Map<String, ChunkCodec> BY_ID = table(new RecordsCodec(), new PackedCodec());

  private Codecs() {}

  /** The codec that a producer uses by default. */
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

  private static Map<String, ChunkCodec> table(ChunkCodec... codecs) {
    Map<String, ChunkCodec> table = new TreeMap<>();
    for (ChunkCodec codec : codecs) {
      table.put(codec.id(), codec);
    }
    return Collections.unmodifiableMap(table);
  }
}
