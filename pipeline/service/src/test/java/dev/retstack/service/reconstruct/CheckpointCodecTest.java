package dev.retstack.service.reconstruct;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.service.ingest.OtherVersionException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class CheckpointCodecTest {
  private static final long SEED = 20261;

  @Test
  void aLargeStateComesBackFromItsParts() throws Exception {
    byte[] state = new byte[3 * CheckpointCodec.PART_BYTES + 17];
    new Random(SEED).nextBytes(state);
    Checkpoint written = new Checkpoint(3, 7, 1234, StateBytes.of(state));

    List<byte[]> parts = CheckpointCodec.encode(written);
    Checkpoint read = CheckpointCodec.decode(parts);

    assertThat(parts).hasSizeGreaterThan(3).allMatch(part -> part.length < 1_000_000);
    assertThat(CheckpointCodec.parts(parts.getFirst())).isEqualTo(parts.size());
    assertThat(read).hasToString(written.toString());
    assertThat(read.state().joined()).isEqualTo(state);
  }

  @Test
  void theEmptyStateIsOnePart() throws Exception {
    List<byte[]> parts = CheckpointCodec.encode(Checkpoint.initial(5));

    assertThat(parts).hasSize(1);
    assertThat(CheckpointCodec.decode(parts).state().length()).isZero();
  }

  @Test
  void aStateInPiecesComesBackWhole() throws Exception {
    byte[] state = new byte[1_000_003];
    new Random(SEED).nextBytes(state);
    List<ByteBuffer> pieces = new ArrayList<>();
    for (int from = 0; from < state.length; from += 70_001) {
      pieces.add(
          ByteBuffer.wrap(Arrays.copyOfRange(state, from, Math.min(from + 70_001, state.length))));
    }
    Checkpoint written = new Checkpoint(0, 1, 9, new StateBytes(pieces));

    List<byte[]> parts = CheckpointCodec.encode(written);

    assertThat(parts).hasSize(3);
    assertThat(CheckpointCodec.decode(parts).state().joined()).isEqualTo(state);
    assertThat(written.state().joined()).isEqualTo(state);
  }

  @Test
  void everyChangedBitIsRefused() {
    byte[] state = "entries = exits + open".repeat(40).getBytes(UTF_8);
    byte[] part = CheckpointCodec.encode(new Checkpoint(0, 1, 99, StateBytes.of(state))).getFirst();
    for (int bit = 0; bit < part.length * 8; bit++) {
      byte[] changed = part.clone();
      changed[bit / 8] ^= (byte) (1 << (bit % 8));
      assertThatThrownBy(() -> CheckpointCodec.decode(List.of(changed)))
          .as("bit %d", bit)
          .isInstanceOf(
              bit / 8 == Integer.BYTES
                  ? OtherVersionException.class
                  : CorruptCheckpointException.class);
    }
  }

  @Test
  void partsOfTwoCheckpointsDoNotJoin() {
    byte[] state = new byte[2 * CheckpointCodec.PART_BYTES];
    new Random(SEED).nextBytes(state);
    List<byte[]> older = CheckpointCodec.encode(new Checkpoint(0, 1, 10, StateBytes.of(state)));
    List<byte[]> mixed =
        new ArrayList<>(CheckpointCodec.encode(new Checkpoint(0, 1, 20, StateBytes.of(state))));
    mixed.set(1, older.get(1));

    assertThatThrownBy(() -> CheckpointCodec.decode(mixed))
        .isInstanceOf(CorruptCheckpointException.class)
        .hasMessageContaining("part 1 does not belong");
  }
}
