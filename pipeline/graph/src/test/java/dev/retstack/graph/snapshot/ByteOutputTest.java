package dev.retstack.graph.snapshot;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.testing.Seeds;
import java.io.ByteArrayOutputStream;
import java.io.DataOutput;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.junit.jupiter.api.Test;

/** Against what {@link DataOutputStream} writes. */
class ByteOutputTest {
  private static final long SEED = Seeds.fresh();

  @Test
  void bytesAreThoseOfADataOutputStream() throws Exception {
    SplittableRandom random = new SplittableRandom(SEED);
    for (int round = 0; round < 20; round++) {
      long seed = random.nextLong();
      int writes = 1 << random.nextInt(18);
      ByteArrayOutputStream plain = new ByteArrayOutputStream();
      ByteOutput out = new ByteOutput(0);
      write(new DataOutputStream(plain), seed, writes);
      write(out, seed, writes);

      byte[] expected = plain.toByteArray();
      String what = "seed %d, %d writes".formatted(SEED, writes);
      assertThat(out.size()).as(what).isEqualTo(expected.length);
      int from = random.nextInt(expected.length + 1);
      CRC32C sum = new CRC32C();
      out.sum(sum, from);
      CRC32C right = new CRC32C();
      right.update(expected, from, expected.length - from);
      assertThat(sum.getValue()).as("from %d, %s", from, what).isEqualTo(right.getValue());
      assertThat(out.take()).as(what).isEqualTo(expected);
    }
  }

  private static void write(DataOutput out, long seed, int writes) throws IOException {
    SplittableRandom random = new SplittableRandom(seed);
    for (int i = 0; i < writes; i++) {
      switch (random.nextInt(6)) {
        case 0 -> out.writeByte(random.nextInt());
        case 1 -> out.writeShort(random.nextInt());
        case 2 -> out.writeInt(random.nextInt());
        case 3 -> out.writeLong(random.nextLong());
        case 4 -> out.writeBoolean(random.nextBoolean());
        default -> {
          byte[] some = new byte[random.nextInt(random.nextInt(100) == 0 ? 1 << 16 : 64)];
          random.nextBytes(some);
          out.write(some);
        }
      }
    }
  }
}
