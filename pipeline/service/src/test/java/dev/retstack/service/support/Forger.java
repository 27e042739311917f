package dev.retstack.service.support;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.SchemaIds;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;

/** Makes records that somebody may send who means ill: random bytes, data, and whole chunks. */
public final class Forger {
  /** Session of its chunks. */
  public static final String SESSION = "forged";

  private static final int CORES = 40;
  private static final long[] EDGES = {
    0, 1, 2, 4, 8, -1, 127, 1 << 20, Integer.MAX_VALUE, Long.MAX_VALUE, Long.MIN_VALUE, 0x401000
  };

  private final Random random;
  private final List<String> texts;

  /**
   * Draws from a seed.
   *
   * @param texts some of the texts that it puts in: names of others, for one
   */
  public Forger(long seed, List<String> texts) {
    this.random = new Random(seed);
    this.texts = new ArrayList<>(texts);
    this.texts.addAll(
        List.of("", "x", "all", "\0\033[2J", "%s%n", "file:///etc/passwd", "a/b/c", "0/0"));
    this.texts.add("long".repeat(2_000));
  }

  /** A key; none at times where it needs none. */
  public byte[] key(boolean needed) {
    return !needed && random.nextInt(20) == 0 ? null : text().getBytes(UTF_8);
  }

  /** The value of a record for a topic of this schema, which may be null; or no value. */
  public byte[] value(Schema schema) {
    int kind = random.nextInt(10);
    if (kind == 0) {
      return null;
    }
    if (schema == null || kind == 1) {
      return bytes(random.nextInt(300));
    }
    byte[] framed = framed(schema);
    if (kind < 4) {
      for (int flips = random.nextInt(4); flips >= 0; flips--) {
        framed[random.nextInt(framed.length)] ^= (byte) (1 << random.nextInt(8));
      }
    }
    return framed;
  }

  /** A chunk under a right checksum, of a core of {@link #SESSION}. */
  public byte[] chunk() {
    RecordBatch batch = new RecordBatch(64);
    long time = random.nextInt(4) == 0 ? number() & Long.MAX_VALUE : random.nextInt(100);
    for (int i = random.nextInt(40); i > 0; i--) {
      int depth = random.nextInt(8) == 0 ? random.nextInt(1 << 16) : random.nextInt(4);
      batch.add(
          (byte) random.nextInt(random.nextInt(4) == 0 ? 16 : 3),
          time,
          depth,
          number(),
          number(),
          number(),
          number());
      long later = time + (random.nextInt(9) == 0 ? number() & Long.MAX_VALUE : 1);
      time = Math.max(time, later);
    }
    Chunk.Builder chunk =
        Chunk.newBuilder()
            .setSession(SESSION)
            .setCore("core-" + random.nextInt(CORES))
            .setIsa("x86_64")
            .setImage(random.nextInt(9) == 0 ? "million" : SESSION + "-" + random.nextInt(4))
            .setSequence(random.nextInt(9) == 0 ? number() : random.nextInt(6))
            .setRecordsBefore(random.nextInt(9) == 0 ? number() : random.nextInt(100))
            .setLostBefore(random.nextInt(9) == 0 ? number() : 0)
            .setTask(random.nextInt(9) == 0 ? number() : 0)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setEnd(random.nextInt(30) == 0 ? CoreEnd.HALTED : CoreEnd.RUNNING)
            .setEndDetail(random.nextInt(30) == 0 ? text() : "");
    List<String> codecs = List.copyOf(Codecs.ids());
    try {
      if (batch.size() == 0) {
        chunk.setFirstTime(time).setLastTime(time);
      }
      return ConfluentFrame.encode(
          Chunks.seal(chunk, Codecs.byId(codecs.get(random.nextInt(codecs.size()))), batch));
    } catch (CorruptChunkException e) {
      throw new AssertionError("codecs " + codecs + " are all known", e);
    } catch (IllegalArgumentException notToBePacked) {
      return bytes(50);
    }
  }

  private byte[] framed(Schema schema) {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    out.writeBytes(ByteBuffer.allocate(5).put((byte) 0).putInt(SchemaIds.idOf(schema)).array());
    try {
      BinaryEncoder encoder = EncoderFactory.get().binaryEncoder(out, null);
      new GenericDatumWriter<Object>(schema).write(datum(schema), encoder);
      encoder.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail", e);
    }
    return out.toByteArray();
  }

  private Object datum(Schema schema) {
    return switch (schema.getType()) {
      case RECORD -> {
        GenericData.Record record = new GenericData.Record(schema);
        schema.getFields().forEach(field -> record.put(field.pos(), datum(field.schema())));
        yield record;
      }
      case ARRAY -> {
        List<Object> items = new ArrayList<>();
        for (int i = random.nextInt(5); i > 0; i--) {
          items.add(datum(schema.getElementType()));
        }
        yield items;
      }
      case UNION -> datum(schema.getTypes().get(random.nextInt(schema.getTypes().size())));
      case ENUM ->
          new GenericData.EnumSymbol(
              schema, schema.getEnumSymbols().get(random.nextInt(schema.getEnumSymbols().size())));
      case STRING -> text();
      case BYTES -> ByteBuffer.wrap(bytes(random.nextInt(100)));
      case INT -> (int) number();
      case LONG -> number();
      case DOUBLE -> (double) number();
      case FLOAT -> (float) number();
      case BOOLEAN -> random.nextBoolean();
      case NULL -> null;
      default -> throw new IllegalArgumentException("no topic holds " + schema);
    };
  }

  private String text() {
    return texts.get(random.nextInt(texts.size()));
  }

  private long number() {
    return random.nextInt(3) == 0 ? random.nextInt(64) : EDGES[random.nextInt(EDGES.length)];
  }

  /** Bytes of any kind. */
  public byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}
