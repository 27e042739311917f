package dev.retstack.answers.support;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.Image;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.function.UnaryOperator;

/** Cores that call at random: recursion, tail calls, longjmp, mismatches, losses. */
public final class RandomFleet {
  private static final String[] FUNCTIONS = {"main", "fib", "walk", "hash", "parse", "emit"};
  private static final int MAX_DEPTH = 40;

  private RandomFleet() {}

  /** Finished cores; the same seed gives the same chunks. */
  public static List<CoreScript> of(long seed, int cores, int steps) {
    return of(seed, cores, steps, core -> core);
  }

  /** The same, where each chunk has a keyframe, as those of a probe. */
  public static List<CoreScript> withKeyframes(long seed, int cores, int steps) {
    return of(seed, cores, steps, CoreScript::withKeyframes);
  }

  private static List<CoreScript> of(
      long seed, int cores, int steps, UnaryOperator<CoreScript> kind) {
    List<CoreScript> fleet = new ArrayList<>();
    Random random = new Random(seed);
    for (int i = 0; i < cores; i++) {
      Image image = CoreScript.image("img" + i % 2 + "s" + seed, FUNCTIONS);
      CoreScript core = kind.apply(new CoreScript(image, "session-" + seed, "core-" + i));
      fleet.add(run(core, random, steps));
    }
    return fleet;
  }

  /** The chunks of all cores as they would be sent, by turns. */
  public static List<Chunk> byTurns(List<CoreScript> fleet) {
    List<Chunk> all = new ArrayList<>();
    int longest = fleet.stream().mapToInt(core -> core.chunks().size()).max().orElseThrow();
    for (int i = 0; i < longest; i++) {
      for (CoreScript core : fleet) {
        if (i < core.chunks().size()) {
          all.add(core.chunks().get(i));
        }
      }
    }
    return all;
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
