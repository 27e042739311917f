package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.retstack.fleet.Seeds;
import dev.retstack.fleet.isa.Errno;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.schema.linux.SystemCallNames;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

/**
 * Programs that pass anything to any system call: each call gives a result or an error number, and
 * the process goes on or ends by its own doing. {@code -Dretstack.seed=S} repeats a run.
 */
final class LinuxFuzzTest {
  private static final int PROGRAMS = 600;
  private static final int CALLS = 500;

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
  void noCallBreaksTheHost() {
    long seed = Seeds.fresh();
    System.out.println("LinuxFuzzTest: seed " + seed);
    TreeMap<Long, Integer> results = new TreeMap<>();
    assertTimeoutPreemptively(
        Duration.ofMinutes(3),
        () -> {
          SplittableRandom random = new SplittableRandom(seed);
          for (int i = 0; i < PROGRAMS; i++) {
            run(random.split(), seed, results);
          }
        },
        "seed " + seed);
    assertThat(results.keySet()).as("seed %d", seed).contains(0L, Errno.EFAULT.result());
    assertThat(results.headMap(0L).keySet())
        .as("error numbers, seed %d", seed)
        .allMatch(e -> e > -4096);
  }

  private static void run(SplittableRandom random, long seed, Map<Long, Integer> results) {
    String isa = Isas.all().get(random.nextInt(Isas.all().size())).name();
    try (Guest guest = new Guest(isa, "some input", o -> o.withMemory(64 << 10, 2 << 20))) {
      guest.process.start();
      guest.process.reserve(Guest.SCRATCH, 4096);
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
    }
  }
}
