package dev.retstack.fleet.zoo;

import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts calls by a plain hook on the first instruction of each function, on an engine of its own
 * without a probe: shares no code with the tracer.
 *
 * <p>Where the engine runs on into a function in the middle of a block, or leaves an instruction
 * for a page and begins it again, it calls the hook twice for one call, with at most the function's
 * own block begun in between. Only single instructions are hooked: SPARC programs go astray where
 * all are.
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
                  .hook_add_block(
                      (address, size) -> last[0] = address == last[0] ? address : -1, 1, 0);
              names.forEach(
                  (entry, name) ->
                      core.engine()
                          .hook_add_code(
                              (address, size) -> {
                                if (address != last[0]) {
                                  counts.merge(name, 1L, Long::sum);
                                }
                                last[0] = address;
                              },
                              entry,
                              entry));
            },
            arguments);
    if (run.ending().end() != CoreEnd.HALTED || run.ending().exitCode() != 0) {
      throw new IllegalStateException("the counted run failed: " + run.ending());
    }
    return counts;
  }
}
