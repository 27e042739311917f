package dev.retstack.fleet.zoo;

import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.loader.Symbol;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts calls by plain hooks on the first instruction of each function, on an engine of its own
 * without a probe: shares no code with the tracer.
 */
final class Counter {
  private Counter() {}

  static Map<String, Long> count(LoadedImage image, Set<String> functions, String... arguments) {
    Map<String, Long> counts = new TreeMap<>();
    Run run =
        Run.of(
            image,
            Run.options().withTraced(false),
            1_000_000,
            core -> {
              long[] counted = {-1};
              for (String name : functions) {
                Symbol symbol = image.elf().symbol(name).orElseThrow();
                core.engine()
                    .hook_add_code(
                        (address, size) -> {
                          // the clock stands still where a core begins an instruction again
                          if (counted[0] != core.instructions()) {
                            counts.merge(name, 1L, Long::sum);
                          }
                          counted[0] = core.instructions();
                        },
                        symbol.entry(),
                        symbol.entry());
              }
            },
            arguments);
    if (run.ending().exitCode() != 0) {
      throw new IllegalStateException("the counted run failed: " + run.ending());
    }
    return counts;
  }
}
