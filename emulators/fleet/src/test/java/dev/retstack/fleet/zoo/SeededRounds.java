package dev.retstack.fleet.zoo;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.testing.Seeds;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Rounds of a random test on one image, each with a program drawn by chance. A seed stands for all
 * that is drawn; each build has another, which is printed, and runs one round. {@code
 * -Dretstack.seed=S} repeats one, {@code -Dretstack.seeds=N} runs N of them, in all rounds.
 */
final class SeededRounds {
  private static final long FIRST = Seeds.fresh();
  private static final int SEEDS = Integer.getInteger("retstack.seeds", 0);
  private static final boolean ALL = SEEDS > 0 || Long.getLong("retstack.seed") != null;

  static { // at once: a crash of the emulator leaves no message behind
    System.out.println("SeededRounds: -Dretstack.seed=" + FIRST);
  }

  private SeededRounds() {}

  /** One round. */
  @FunctionalInterface
  interface Round {
    /**
     * Checks one program.
     *
     * @param random draws what else the round needs
     */
    void check(String program, SplittableRandom random);
  }

  /**
   * Runs them.
   *
   * @param rounds with each seed; no program comes twice before all have come
   */
  static void run(LoadedImage image, int rounds, Round round) {
    for (long seed = FIRST; seed < FIRST + Math.max(1, SEEDS); seed++) {
      SplittableRandom random = new SplittableRandom(seed);
      List<String> programs = new ArrayList<>();
      for (int i = 0; i < (ALL ? rounds : 1); i++) {
        if (programs.isEmpty()) {
          programs.addAll(Zoo.programs(image));
        }
        String program = programs.remove(random.nextInt(programs.size()));
        try {
          round.check(program, random);
        } catch (AssertionError | RuntimeException e) {
          throw new AssertionError(
              "%s %s: reproduce with -Dretstack.seed=%d"
                  .formatted(image.elf().name(), program, seed),
              e);
        }
      }
    }
  }
}
