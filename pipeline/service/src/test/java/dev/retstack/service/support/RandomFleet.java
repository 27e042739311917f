package dev.retstack.service.support;

import dev.retstack.schema.Image;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Cores that call at random: recursion, tail calls, longjmp, mismatches, losses. */
public final class RandomFleet {
  private static final String[] FUNCTIONS = {"main", "fib", "walk", "hash", "parse", "emit"};
  private static final int MAX_DEPTH = 40;

  private RandomFleet() {}

  /** Finished cores; the same seed gives the same chunks. */
  public static List<CoreScript> of(long seed, int cores, int steps) {
    List<CoreScript> fleet = new ArrayList<>();
    Random random = new Random(seed);
    for (int i = 0; i < cores; i++) {
      Image image = CoreScript.image("img" + i % 2 + "s" + seed, FUNCTIONS);
      fleet.add(run(new CoreScript(image, "session-" + seed, "core-" + i), random, steps));
    }
    return fleet;
  }

  private static CoreScript run(CoreScript core, Random random, int steps) {
    core.enter("main");
    for (int step = 0; step < steps; step++) {
      core.tick(1 + random.nextInt(9));
      step(core, random);
      if (core.pending() >= 64 + random.nextInt(64)) {
        core.chunk();
      }
    }
    while (core.depth() > 0) {
      core.tick(1).exit();
    }
    return core.untraced(0, 1 + random.nextInt(9)).tick(1).end();
  }

  private static void step(CoreScript core, Random random) {
    int what = random.nextInt(1000);
    String function = FUNCTIONS[1 + random.nextInt(FUNCTIONS.length - 1)];
    if (core.depth() <= 1 || (what < 500 && core.depth() < MAX_DEPTH)) {
      core.enter(function);
    } else if (what < 960) {
      core.exit();
    } else if (what < 975) {
      core.tailCall(function);
    } else if (what < 985) {
      core.exit(16);
    } else if (what < 998) {
      core.unwind(1 + random.nextInt(core.depth() - 1)).enter(function);
    } else {
      core.lose(1 + random.nextInt(5));
    }
  }
}
