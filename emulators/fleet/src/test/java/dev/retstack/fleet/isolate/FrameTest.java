package dev.retstack.fleet.isolate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.testing.Seeds;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.StreamCorruptedException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class FrameTest {
  private static byte[] bytes(Frame... frames) throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    for (Frame frame : frames) {
      frame.write(out);
    }
    return out.toByteArray();
  }

  private static InputStream reader(byte[] bytes) {
    return new ByteArrayInputStream(bytes);
  }

  @Test
  void framesComeAsTheyWereSent() throws Exception {
    InputStream in =
        reader(
            bytes(
                Frame.ofCore(Frame.Kind.REFUSED, 7, "disk full, \u00e9"),
                new Frame(Frame.Kind.STOP, new byte[0]),
                Frame.ofCore(Frame.Kind.INPUT, 0, new byte[0])));
    Frame refused = Frame.read(in);
    assertThat(refused.kind()).isEqualTo(Frame.Kind.REFUSED);
    assertThat(refused.core(8)).isEqualTo(7);
    assertThat(refused.text()).isEqualTo("disk full, \u00e9");
    assertThatThrownBy(() -> refused.core(7)).isInstanceOf(StreamCorruptedException.class);
    assertThat(Frame.read(in).body()).isEmpty();
    assertThat(Frame.read(in).content()).isEmpty();
    assertThat(Frame.read(in)).isNull();
  }

  @Test
  void aStreamCutAnywhereEndsBeforeTheCut() throws Exception {
    byte[] whole =
        bytes(
            Frame.ofCore(Frame.Kind.OUTPUT, 1, "hello".getBytes(StandardCharsets.UTF_8)),
            new Frame(Frame.Kind.STOP, new byte[0]));
    int first = whole.length - Frame.HEADER_BYTES;
    for (int cut = 0; cut < whole.length; cut++) {
      InputStream in = reader(Arrays.copyOf(whole, cut));
      if (cut >= first) {
        assertThat(Frame.read(in).kind()).isEqualTo(Frame.Kind.OUTPUT);
      }
      assertThat(Frame.read(in)).as("cut at %d", cut).isNull();
    }
  }

  @Test
  void aChangedBitIsNeverAnotherFrame() throws Exception {
    byte[] whole = bytes(Frame.ofCore(Frame.Kind.OUTPUT, 1, new byte[100]));
    for (int bit = 0; bit < whole.length * 8; bit++) {
      byte[] changed = whole.clone();
      changed[bit / 8] ^= (byte) (1 << bit % 8);
      try {
        // a longer length looks like a cut
        assertThat(Frame.read(reader(changed))).as("bit %d", bit).isNull();
      } catch (StreamCorruptedException e) {
        assertThat(e).hasMessageContaining("frame of ");
      }
    }
  }

  @Test
  void noiseIsRefusedOrCut() throws Exception {
    long seed = Seeds.fresh();
    System.out.println("FrameTest: seed " + seed);
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < 5_000; i++) {
      byte[] noise = new byte[random.nextInt(200)];
      random.nextBytes(noise);
      try {
        assertThat(Frame.read(reader(noise))).as("seed %d", seed).isNull();
      } catch (StreamCorruptedException e) {
        assertThat(e).hasMessageContaining("frame ");
      }
    }
  }
}
