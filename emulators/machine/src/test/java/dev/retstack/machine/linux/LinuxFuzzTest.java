package dev.retstack.machine.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.system.Errno;
import dev.retstack.schema.linux.SystemCallNames;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Programs that pass anything to any system call: each call gives a result or an error number, and
 * the process goes on or ends by its own doing. No name and no number of descriptors leads out of
 * the folders that it may use. {@code -Dretstack.seed=S} repeats a run, {@code
 * -Dretstack.linux.mutants=N} runs N programs of 500 calls.
 */
final class LinuxFuzzTest {
  private static final int PROGRAMS = Integer.getInteger("retstack.linux.mutants", 300);
  private static final int CALLS = 500;

  /** Names begin at such distances in the scratch memory. */
  private static final int NAME_STEP = 1 << 10;

  private static final List<String> PARTS =
      List.of("a", "b", "..", ".", "out", "round", "in", "secret", "tmp", "dev", "null", "proc");

  @TempDir private static Path folder;

  private static final long[] TEMPTING = {
    0,
    1,
    2,
    3,
    7,
    8,
    16,
    0x22,
    0x32,
    0x1002,
    4096,
    4095,
    65536,
    1 << 20,
    1L << 31,
    1L << 32,
    1L << 40,
    -1,
    -100,
    Long.MIN_VALUE,
    Long.MAX_VALUE,
    -4096,
    Guest.SCRATCH,
    Guest.SCRATCH + 8 * NAME_STEP,
    Guest.SCRATCH + 9 * NAME_STEP,
    Guest.SCRATCH + 10 * NAME_STEP,
    Guest.SCRATCH + 11 * NAME_STEP,
    Guest.SCRATCH + 12 * NAME_STEP,
    0x41,
    0x242,
    0x1_0000,
    1_000_000,
    Guest.SCRATCH + Guest.SCRATCH_BYTES - 4,
    Guest.NOWHERE,
    0x20_0000_0000L,
    0x20_0000_1000L,
    0x3F_EFFF_F000L,
    0x4000_0000L,
    0x7EFF_F000L,
    0xFFFF_0000L,
    0xFFFF_FFFFL,
    0x12000,
    0x20000,
  };

  @Test
  void noCallBreaksTheHost() throws Exception {
    long seed = Seeds.fresh();
    System.out.println("LinuxFuzzTest: seed " + seed);
    Path secret = Files.createDirectory(folder.resolve("secret"));
    Files.writeString(secret.resolve("a"), "untouched");
    TreeMap<Long, Integer> results = new TreeMap<>();
    assertTimeoutPreemptively(
        Duration.ofSeconds(180 + PROGRAMS / 10),
        () -> {
          SplittableRandom random = new SplittableRandom(seed);
          for (int i = 0; i < PROGRAMS; i++) {
            run(random.split(), seed, results);
            assertThat(Files.readString(secret.resolve("a")))
                .as("seed %d", seed)
                .isEqualTo("untouched");
            assertThat(list(secret)).as("seed %d", seed).containsExactly("a");
            assertThat(list(folder)).as("seed %d", seed).containsExactly("in", "secret");
            remove(folder.resolve("in"));
          }
        },
        "seed " + seed);
    assertThat(results.keySet()).as("seed %d", seed).contains(0L, Errno.EFAULT.result());
    assertThat(results.headMap(0L).keySet())
        .as("error numbers, seed %d", seed)
        .allMatch(e -> e > -4096);
  }

  private static List<String> list(Path of) throws IOException {
    try (Stream<Path> files = Files.list(of)) {
      return files.map(file -> file.getFileName().toString()).sorted().toList();
    }
  }

  private static void remove(Path all) throws IOException {
    try (Stream<Path> files = Files.walk(all)) {
      for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(file);
      }
    }
  }

  /** A folder with something in it, and links that lead out of it and nowhere. */
  private static Path writable() throws IOException {
    Path in = Files.createDirectories(folder.resolve("in"));
    Files.writeString(in.resolve("a"), "content");
    Files.createDirectory(in.resolve("b"));
    Files.createSymbolicLink(in.resolve("out"), Path.of("../secret"));
    Files.createSymbolicLink(in.resolve("round"), Path.of("round"));
    return in;
  }

  /** But for the two that were there. */
  private static void requireLinksLeadBelow(Path in) throws IOException, InterruptedException {
    // the program may have taken rights from its folders; only root reads them all the same
    new ProcessBuilder("chmod", "-R", "u+rwX", in.toString()).start().waitFor();
    assertThat(Files.getAttribute(folder.resolve("secret/a"), "unix:nlink")).isEqualTo(1);
    try (Stream<Path> files = Files.walk(in)) {
      for (Path link : files.filter(Files::isSymbolicLink).toList()) {
        Path to = link.getParent().resolve(Files.readSymbolicLink(link)).normalize();
        assertThat(to.startsWith(link.getParent()) || link.equals(in.resolve("out")))
            .as("%s leads to %s", link, to)
            .isTrue();
      }
    }
  }

  /** A relative or full name, short or endless. */
  private static String name(SplittableRandom random) {
    StringBuilder name = new StringBuilder();
    switch (random.nextInt(4)) {
      case 0 -> name.append(folder).append("/in");
      case 1 -> name.append(random.nextBoolean() ? "/tmp" : folder + "/secret");
      default -> name.append(".");
    }
    int parts = random.nextInt(20) == 0 ? 200 : random.nextInt(4);
    for (int i = 0; i < parts; i++) {
      name.append('/').append(PARTS.get(random.nextInt(PARTS.size())));
    }
    return random.nextInt(20) == 0 ? name + "x".repeat(300) : name.toString();
  }

  private static void run(SplittableRandom random, long seed, Map<Long, Integer> results)
      throws IOException, InterruptedException {
    Path in = writable();
    String isa = Isas.all().get(random.nextInt(Isas.all().size())).name();
    try (Guest guest =
        new Guest(
            isa,
            "some input",
            o -> o.withWritable(List.of(in)).withLimits(64 << 10, 2 << 20, 1 << 20))) {
      guest.process.start();
      guest.process.reserve(Guest.SCRATCH, 4096);
      guest.process.reserve(Guest.STACK, 4096); // the test puts arguments there
      for (int i = 8; i < 13; i++) {
        String name = name(random);
        guest.string(
            Guest.SCRATCH + (long) i * NAME_STEP,
            name.substring(0, Math.min(name.length(), NAME_STEP - 1)));
      }
      SystemCallNames names = guest.isa.syscalls().names();
      List<Integer> served =
          guest.process.supported().stream().flatMap(name -> names.number(name).stream()).toList();
      for (int i = 0; i < CALLS && guest.process.end().isEmpty(); i++) {
        long number =
            random.nextInt(20) == 0
                ? random.nextLong()
                : served.get(random.nextInt(served.size())) + random.nextInt(10) / 9;
        long[] arguments = new long[6];
        for (int a = 0; a < arguments.length; a++) {
          long value = TEMPTING[random.nextInt(TEMPTING.length)];
          arguments[a] = random.nextInt(4) == 0 ? value + random.nextInt(-9, 9) : value;
        }
        try {
          long result = guest.callNumber(number, arguments);
          if (guest.process.end().isEmpty()) {
            results.merge(result, 1, Integer::sum);
          }
        } catch (RuntimeException e) {
          throw new AssertionError("seed " + seed + ", " + isa + " call " + number, e);
        }
      }
      assertThat(guest.memory.isMapped(Guest.SCRATCH, 4096)).isTrue();
      requireLinksLeadBelow(in);
    }
  }
}
