package dev.retstack.schema.wire;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import dev.retstack.schema.Samples;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericRecord;
import org.apache.avro.io.DecoderFactory;
import org.junit.jupiter.api.Test;

class ConfluentFrameTest {
  private final RecordBatch batch = Samples.callTree(new SplittableRandom(3), 100, 10);
  private final Chunk chunk = Samples.chunk("core-0", 0, Codecs.standard(), batch);
  private final byte[] message = ConfluentFrame.encode(chunk);

  @Test
  void comesBack() throws CorruptChunkException {
    assertThat(ConfluentFrame.decode(message, Chunk.class)).isEqualTo(chunk);
    assertThat(Chunks.decode(chunk)).isEqualTo(batch);
    Image image = Samples.image();
    assertThat(ConfluentFrame.decode(ConfluentFrame.encode(image), Image.class)).isEqualTo(image);
  }

  /** A client with nothing but Avro and the schema by its id. */
  @Test
  void anyAvroClientReadsIt() throws Exception {
    assertThat(message[0]).isZero();
    int id = ByteBuffer.wrap(message).getInt(1);
    var schema = SchemaIds.schemaById(id).orElseThrow();
    GenericRecord read =
        new GenericDatumReader<GenericRecord>(schema)
            .read(null, DecoderFactory.get().binaryDecoder(message, 5, message.length - 5, null));
    assertThat(read.get("core").toString()).isEqualTo("core-0");
  }

  @Test
  void refusesWhatIsNotOneMessage() {
    byte[] otherMagic = message.clone();
    otherMagic[0] = 1;
    refused(otherMagic, "first byte: expected 0, received 1");
    byte[] otherId = message.clone();
    otherId[4] ^= 1;
    refused(otherId, "schema id: expected " + SchemaIds.idOf(Chunk.getClassSchema()) + " (Chunk)");
    refused(ConfluentFrame.encode(Samples.image()), "(Image)");
    refused(Arrays.copyOf(message, message.length + 1), "1 bytes follow the Chunk");
    refused(null, "message of no bytes");
    refused(new byte[4], "message of 4 bytes");
  }

  /** Lengths far beyond the message must not cost memory, nor anything but this exception. */
  @Test
  void refusesEveryCutAndHugeLengths() {
    for (int length = 0; length < message.length; length++) {
      refused(Arrays.copyOf(message, length), "");
    }
    byte[] huge = Arrays.copyOf(message, 15);
    Arrays.fill(huge, 5, 14, (byte) 0xff);
    huge[14] = 1;
    refused(huge, "Avro data at byte 15: length -9223372036854775808");
    huge[5] = (byte) 0xfe;
    refused(huge, "length 9223372036854775807 where 0 bytes are left");
  }

  private static void refused(byte[] message, String why) {
    assertThatThrownBy(() -> ConfluentFrame.decode(message, Chunk.class))
        .isInstanceOf(CorruptChunkException.class)
        .hasMessageContaining(why);
  }
}
