package dev.retstack.fleet.zoo;

import dev.retstack.fleet.loader.LoadedImage;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts calls by a plain hook on every instruction, on an engine of its own without a probe:
 * shares no code with the tracer. A function is called when its first instruction runs. Where the
 * engine runs on into a function in the middle of a block, or leaves an instruction for a page and
 * begins it again, it calls the hook twice for that instruction.
 */
final class Counter {
  private Counter() {}

  static Map<String, Long> count(LoadedImage image, Set<String> functions, String... arguments) {
    Map<String, Long> counts = new TreeMap<>();
    Long2ObjectOpenHashMap<String> names = new Long2ObjectOpenHashMap<>();
    for (String name : functions) {
      names.put(image.elf().symbol(name).orElseThrow().entry(), name);
    }
    Run run =
        Run.of(
            image,
            Run.options().withTraced(false),
            1_000_000,
            core -> {
              long[] last = {-1};
              core.engine()
                  .hook_add_code(
                      (address, size) -> {
                        String name = names.get(address);
                        if (name != null && address != last[0]) {
                          counts.merge(name, 1L, Long::sum);
                        }
                        last[0] = address;
                      },
                      1,
                      0);
            },
            arguments);
    if (run.ending().exitCode() != 0) {
      throw new IllegalStateException("the counted run failed: " + run.ending());
    }
    return counts;
  }
}
