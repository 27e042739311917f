package dev.retstack.cli.demo;

import dev.retstack.fleet.core.ImageLayout;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.service.export.GraphText;
import dev.retstack.service.partition.ChunkApplier;
import java.io.IOException;
import java.util.List;

/**
 * Shows a few records from the middle of a core's stream as a call tree, with the code that makes
 * every other tree. Calls that began earlier are not in it; calls that end later have no duration.
 */
public final class TreeWindow {
  private TreeWindow() {}

  /**
   * The lines of the tree of the last records.
   *
   * @param lines most of them, without the header
   */
  public static List<String> last(CoreSpec core, RecordBatch records, int lines)
      throws IOException {
    int from = Math.max(0, records.size() - 2 * lines);
    int shallowest = from;
    for (int i = from; i < records.size() - lines / 2; i++) {
      if (isEntry(records, i) && records.depth[i] < depth(records, shallowest)) {
        shallowest = i; // a whole call rather than the end of one
      }
    }
    return tree(core, records, shallowest, lines);
  }

  /** The lines of the tree of the first records. */
  public static List<String> first(CoreSpec core, RecordBatch records, int lines)
      throws IOException {
    return tree(core, records, 0, lines);
  }

  private static boolean isEntry(RecordBatch records, int i) {
    return records.kind[i] == RecordBatch.ENTRY;
  }

  private static int depth(RecordBatch records, int i) {
    return isEntry(records, i) ? records.depth[i] : Integer.MAX_VALUE;
  }

  private static List<String> tree(CoreSpec core, RecordBatch records, int from, int lines)
      throws IOException {
    RecordBatch part = new RecordBatch(records.size() - from);
    part.addAll(records, from, records.size());
    GraphState state = new GraphState();
    state.image(
        ChunkApplier.info(ImageLayout.describe(core.image(), core.options().tasks().givesIds())));
    if (part.size() > 0) {
      long last = part.time[part.size() - 1];
      state.apply(
          ChunkMeta.running(0, 0, part.time[0], last, ClockUnit.INSTRUCTIONS),
          new CoreKey("window", core.name()),
          core.image().elf().buildId(),
          part);
    }
    StringBuilder text = new StringBuilder();
    GraphText.write(ReportBuilder.of(state).trees(), List.of(), text);
    return text.toString().lines().filter(line -> !line.startsWith("#")).limit(lines).toList();
  }
}
