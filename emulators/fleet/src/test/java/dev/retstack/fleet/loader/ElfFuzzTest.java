package dev.retstack.fleet.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Mutated images: each parses to something consistent or gives an {@link ElfFormatException}; any
 * other exception, a hang or an allocation out of proportion is a defect.
 *
 * <p>{@code -Dretstack.fuzz.mutants=N} runs more, {@code -Dretstack.seed=S} repeats a run.
 */
final class ElfFuzzTest {
  private static final int MUTANTS = Integer.getInteger("retstack.fuzz.mutants", 24_000);
  private static final long ALLOCATION_MAX = 64L << 20;

  /** One in so many mutants is scanned for call sites too, which costs more than parsing. */
  private static final int SCANNED_OF = 16;

  private static final long[] TEMPTING = {
    0,
    1,
    -1,
    7,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFF_FFFFL,
    0x8000_0000L,
    0xFFFF_FFFFL,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    0xFFFF_FFFF_FFFF_F000L,
    0x1000,
    0x100000,
  };

  private final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();

  @Test
  void mutantsParseOrAreRefused() throws Exception {
    long seed = Long.getLong("retstack.seed", System.nanoTime());
    System.out.println("ElfFuzzTest: seed " + seed + ", " + MUTANTS + " mutants");
    List<byte[]> images = new ArrayList<>();
    for (Path image : Images.all()) {
      images.add(Files.readAllBytes(image));
    }
    images.add(
        ElfBuilder.elf64()
            .symbol("f", ElfBuilder.CODE_ADDRESS, 16, 0x12)
            .symbol("g", ElfBuilder.CODE_ADDRESS + 16, 16, 0x22)
            .mcountLoc(ElfBuilder.CODE_ADDRESS + 8)
            .build());
    SplittableRandom random = new SplittableRandom(seed);
    int[] outcome = new int[2];
    assertTimeoutPreemptively(
        Duration.ofMinutes(3),
        () -> {
          for (int i = 0; i < MUTANTS; i++) {
            byte[] image = images.get(random.nextInt(images.size()));
            outcome[tryMutant(mutate(image, random), seed, i) ? 1 : 0]++;
          }
        },
        "seed " + seed);
    System.out.println("ElfFuzzTest: " + outcome[0] + " refused, " + outcome[1] + " parsed");
    assertThat(outcome[0]).as("refused, seed %d", seed).isGreaterThan(MUTANTS / 20);
    assertThat(outcome[1]).as("parsed, seed %d", seed).isGreaterThan(MUTANTS / 20);
  }

  private boolean tryMutant(byte[] mutant, long seed, int index) {
    long before = threads.getCurrentThreadAllocatedBytes();
    boolean parsed;
    try {
      ElfFile elf = ElfFile.parse(mutant, "mutant.elf");
      use(elf);
      if (index % SCANNED_OF == 0) {
        LoadedImage.of(elf).toSchema();
      }
      parsed = true;
    } catch (ElfFormatException e) {
      assertThat(e.getMessage()).startsWith("mutant.elf: ").contains(", allowed: ", "; ");
      parsed = false;
    } catch (RuntimeException e) {
      throw new AssertionError("seed " + seed + ", mutant " + index, e);
    }
    long allocated = threads.getCurrentThreadAllocatedBytes() - before;
    assertThat(allocated)
        .as("bytes allocated, seed %d, mutant %d", seed, index)
        .isLessThan(Math.max(4L * mutant.length, ALLOCATION_MAX));
    return parsed;
  }

  /** What any user of a parsed file relies on. */
  private static void use(ElfFile elf) {
    assertThat(elf.executableAt(elf.entry())).isTrue();
    long memory = 0;
    for (int i = 0; i < elf.segments().size(); i++) {
      Segment s = elf.segments().get(i);
      memory += s.memoryBytes();
      assertThat(s.data().capacity()).isLessThanOrEqualTo((int) Math.min(s.memoryBytes(), 1 << 30));
      if (i > 0) {
        long end = elf.segments().get(i - 1).end();
        assertThat(Long.compareUnsigned(end, s.address())).isLessThanOrEqualTo(0);
      }
    }
    assertThat(memory).isBetween(1L, ElfLimits.DEFAULT.memoryBytesMax());
    Symbol before = null;
    for (Symbol f : elf.functions()) {
      if (before != null) {
        long distance = f.address() - before.address();
        assertThat(distance).isNotZero();
        assertThat(Long.compareUnsigned(before.size(), distance)).isLessThanOrEqualTo(0);
        assertThat(Long.compareUnsigned(before.address(), f.address())).isNegative();
      }
      assertThat(elf.functionAt(f.address())).contains(f);
      before = f;
    }
    elf.code().forEach(c -> assertThat(c.bytes().capacity()).isGreaterThanOrEqualTo(0));
    assertThat(elf.mcountLoc()).isSorted();
    assertThat(elf.buildId()).isNotEmpty();
    elf.programHeadersAddress();
    elf.memory(elf.entry(), 4);
  }

  /** One to four lies, most of them in the headers and tables. */
  private static byte[] mutate(byte[] image, SplittableRandom random) {
    byte[] mutant = image.clone();
    int lies = 1 + random.nextInt(4);
    for (int i = 0; i < lies; i++) {
      int at = place(mutant, random);
      switch (random.nextInt(5)) {
        case 0 -> mutant[at] ^= (byte) (1 << random.nextInt(8));
        case 1 -> mutant[at] = (byte) random.nextInt(256);
        case 2, 3 -> {
          long value = TEMPTING[random.nextInt(TEMPTING.length)];
          int width = 1 << random.nextInt(4);
          for (int b = 0; b < width && at + b < mutant.length; b++) {
            mutant[at + b] = (byte) (value >>> (8 * b));
          }
        }
        default -> {
          if (random.nextInt(8) == 0) {
            mutant = Arrays.copyOf(mutant, random.nextInt(mutant.length) + 1);
          }
        }
      }
    }
    return mutant;
  }

  private static int place(byte[] mutant, SplittableRandom random) {
    int length = mutant.length;
    return switch (random.nextInt(4)) {
      case 0 -> random.nextInt(Math.min(64, length));
      case 1 -> random.nextInt(Math.min(64 + 56 * 5, length));
      // Section headers, then symbols, stand at the end of the zoo's images.
      case 2 -> length - 1 - random.nextInt(Math.min(640, length));
      default -> length - 1 - random.nextInt(Math.min(16_384, length));
    };
  }
}
