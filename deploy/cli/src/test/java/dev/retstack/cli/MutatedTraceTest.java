package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.testing.Seeds;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A changed trace never becomes a report in silence: the command refuses it (exit code 3), or says
 * that it was cut off and reports what stands before the cut, or says that only its index or its
 * pyramid is wrong.
 *
 * <p>{@code -Dretstack.mutants=10000} makes a longer run, {@code -Dretstack.seed=} repeats one.
 */
class MutatedTraceTest {
  private static final int MUTANTS = Integer.getInteger("retstack.mutants", 50);

  @TempDir private Path dir;

  @Test
  @Timeout(1200)
  void everyMutantIsRefusedOrReportedCut() throws Exception {
    Path whole = dir.resolve("whole.avro");
    Ran.well("record", "--image", "zoo-riscv64-mcount", "-o", whole.toString(), "--", "longjmp");
    Ran report = Ran.well("report", whole.toString(), "--format", "json");
    byte[] original = Files.readAllBytes(whole);

    long seed = Seeds.fresh();
    System.out.println("MutatedTraceTest: -Dretstack.seed=" + seed);
    Random random = new Random(seed);
    int refused = 0;
    int cut = 0;
    int index = 0;
    Path file = dir.resolve("mutant.avro");
    for (int i = 0; i < MUTANTS; i++) {
      // the first is cut for sure; so few of the others are that a seed may have none
      byte[] mutant =
          i == 0 ? Arrays.copyOf(original, original.length - 1) : mutate(original, random);
      if (Arrays.equals(mutant, original)) {
        continue;
      }
      Files.write(file, mutant);
      Ran ran = Ran.retstack("report", file.toString(), "--format", "json");
      String what = "mutant " + i + " of seed " + seed + ", exit code " + ran.code() + "\n";
      if (ran.code() == ExitCode.OK && ran.err().matches("(?s).*its (index|pyramid) is wrong.*")) {
        assertThat(ran.out()).as(what).isEqualTo(report.out().replace("whole", "mutant"));
        index++;
      } else if (ran.code() == ExitCode.OK) {
        assertThat(ran.err()).as(what).contains("cut");
        assertThat(ran.out()).as(what).contains("CUT_TRACES");
        cut++;
      } else {
        assertThat(ran.code()).as(what + ran.err()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(ran.err()).as(what).contains(file.getFileName().toString());
        assertThat(ran.out()).as(what).isEmpty();
        refused++;
      }
    }
    System.out.printf(
        "MutatedTraceTest: %d refused, %d reported as cut, %d with a wrong index or pyramid%n",
        refused, cut, index);
    assertThat(refused).isPositive();
    assertThat(cut).isPositive();
  }

  private static byte[] mutate(byte[] original, Random random) {
    byte[] bytes = original.clone();
    int at = random.nextInt(bytes.length);
    switch (random.nextInt(5)) {
      case 0 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> bytes[at] = (byte) random.nextInt(256);
      case 2 -> bytes = Arrays.copyOf(bytes, at);
      case 3 -> { // a run of bytes from elsewhere
        int from = random.nextInt(bytes.length);
        int length = Math.min(1 + random.nextInt(64), bytes.length - Math.max(at, from));
        System.arraycopy(original, from, bytes, at, length);
      }
      default -> { // bytes taken out
        int length = Math.min(1 + random.nextInt(64), bytes.length - at);
        System.arraycopy(original, at + length, bytes, at, bytes.length - at - length);
        bytes = Arrays.copyOf(bytes, bytes.length - length);
      }
    }
    return bytes;
  }
}
