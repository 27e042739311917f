package dev.retstack.service.checkpoint;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.service.kafka.OtherVersionException;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CheckpointCodecTest {
  private static final long SEED = 20261;

  @Test
  void aLargePartComesBackFromItsPieces() throws Exception {
    byte[] part = new byte[3 * CheckpointCodec.PIECE_BYTES + 17];
    new Random(SEED).nextBytes(part);
    Arrays.fill(part, 0, CheckpointCodec.PIECE_BYTES, (byte) 7); // one piece that packs well

    List<byte[]> records = CheckpointCodec.encode(part);
    ByteArrayOutputStream read = new ByteArrayOutputStream();
    for (byte[] record : records) {
      assertThat(CheckpointCodec.decode(record).pieces()).isEqualTo(4);
      read.writeBytes(CheckpointCodec.decode(record).bytes());
    }

    assertThat(records).hasSize(4).allMatch(record -> record.length < 1_000_000);
    assertThat(records.getFirst()).hasSizeLessThan(1_000);
    assertThat(read.toByteArray()).isEqualTo(part);
  }

  @Test
  void anEmptyPartIsOneRecord() throws Exception {
    List<byte[]> records = CheckpointCodec.encode(new byte[0]);

    assertThat(records).hasSize(1);
    assertThat(CheckpointCodec.decode(records.getFirst()).bytes()).isEmpty();
  }

  @Test
  void everyChangedBitIsRefused() {
    byte[] part = "entries = exits + open".repeat(40).getBytes(UTF_8);
    byte[] record = CheckpointCodec.encode(part).getFirst();
    for (int bit = 0; bit < record.length * 8; bit++) {
      byte[] changed = record.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      assertThatThrownBy(() -> CheckpointCodec.decode(changed))
          .as("bit %d", bit)
          .isInstanceOf(
              bit / 8 == Integer.BYTES
                  ? OtherVersionException.class
                  : CorruptCheckpointException.class);
    }
  }
}
