package dev.retstack.cli.fleet;

import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** {@code --codec}: how the records of a chunk are packed. */
public final class CodecOption {
  @Option(
      names = "--codec",
      paramLabel = "CODEC",
      converter = Converter.class,
      description = {
        "How records are packed: packed (default), or records, which any Avro client reads."
      })
  private ChunkCodec codec = Codecs.standard();

  /** The codec of all chunks. */
  public ChunkCodec codec() {
    return codec;
  }

  /** Finds a codec by its id. */
  static final class Converter implements ITypeConverter<ChunkCodec> {
    @Override
    public ChunkCodec convert(String id) {
      try {
        return Codecs.byId(id);
      } catch (CorruptChunkException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
