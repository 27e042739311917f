package dev.retstack.schema.avro;

import dev.retstack.schema.codec.CorruptChunkException;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.Schema;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.Encoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.avro.specific.SpecificRecordBase;

/**
 * A record of the schemas. Its code, which {@code src/main/templates} make, reads and writes it
 * without a schema. Avro's own readers and writers take it too.
 */
public abstract class AvroRecord extends SpecificRecordBase {
  private static final long serialVersionUID = 1;

  /** Takes the values of all fields, in the order of the schema. */
  public abstract void read(AvroSource in) throws CorruptChunkException;

  /** Writes the values of all fields, in the order of the schema. */
  public abstract void write(Encoder out) throws IOException;

  /** Appends it to the bytes. */
  public final void writeTo(ByteArrayOutputStream bytes) {
    BinaryEncoder out = EncoderFactory.get().binaryEncoder(bytes, null);
    try {
      write(out);
      out.flush();
    } catch (IOException e) {
      throw new UncheckedIOException("memory does not fail", e);
    }
  }

  private interface Item<T> {
    void write(T item) throws IOException;
  }

  protected static void writeRecords(Encoder out, List<? extends AvroRecord> items)
      throws IOException {
    write(out, items, item -> item.write(out));
  }

  protected static void writeStrings(Encoder out, List<String> items) throws IOException {
    write(out, items, out::writeString);
  }

  protected static void writeInts(Encoder out, List<Integer> items) throws IOException {
    write(out, items, out::writeInt);
  }

  protected static void writeLongs(Encoder out, List<Long> items) throws IOException {
    write(out, items, out::writeLong);
  }

  private static <T> void write(Encoder out, List<T> items, Item<? super T> as) throws IOException {
    out.writeArrayStart();
    out.setItemCount(items.size());
    for (T item : items) {
      as.write(item);
    }
    out.writeArrayEnd();
  }

  protected static ByteBuffer copy(ByteBuffer bytes) {
    return ByteBuffer.allocate(bytes.remaining()).put(bytes.duplicate()).flip();
  }

  protected static <T> List<T> copy(List<T> items) {
    return new ArrayList<>(items);
  }

  /** What a builder throws for values that nobody set, a bit for each field. */
  protected static IllegalStateException missing(Schema schema, long fields) {
    return new IllegalStateException(
        schema.getName()
            + " without "
            + schema.getFields().get(Long.numberOfTrailingZeros(fields)).name());
  }
}
