package dev.retstack.fleet.zoo;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Counts calls by a plain hook on the first instruction of each function, on a separate engine
 * without a probe: it shares no code with the tracer.
 *
 * <p>If the engine runs into a function in the middle of a block, or leaves an instruction for a
 * page and begins it again, it calls the hook twice for one call. Between them lies at most the
 * function's own block. Only single instructions are hooked, because SPARC programs go astray if
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
