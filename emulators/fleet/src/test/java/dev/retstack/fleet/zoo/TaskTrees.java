package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.ImageLayout;
import dev.retstack.machine.landing.LandingPage;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The call trees of tasks and of interrupts, from records or from a file of expected ones. Only
 * what the tests need; shares nothing with the pipeline's reconstruction.
 *
 * @param tasks by id, or by name where they were read from a file
 * @param interrupts each a tree of its own, in the order of their ends
 */
record TaskTrees(Map<String, TreeText> tasks, List<TreeText> interrupts) {
  private static final String TASK = "task ";

  /** Reads {@code rtos.trees}. */
  static TaskTrees read(Path file) throws IOException {
    Map<String, List<String>> lines = new LinkedHashMap<>();
    List<String> now = new ArrayList<>();
    for (String line : Files.readAllLines(file)) {
      if (line.startsWith(TASK)) {
        now = lines.computeIfAbsent(line.substring(TASK.length()), _ -> new ArrayList<>());
      } else {
        now.add(line.substring(2));
      }
    }
    Map<String, TreeText> trees = new LinkedHashMap<>();
    lines.forEach((name, tree) -> trees.put(name, TreeText.parse(tree)));
    return new TaskTrees(trees, List.of());
  }

  /** Groups the calls of a run by the context that their records say. */
  static TaskTrees of(Run run) {
    RecordBatch r = run.records();
    Map<Long, Task> tasks = new LinkedHashMap<>();
    List<List<Integer>> ended = new ArrayList<>();
    Task task = tasks.computeIfAbsent(0L, _ -> new Task());
    for (int i = 0; i < r.size(); i++) {
      switch (r.kind[i]) {
        case RecordBatch.TASK -> task = tasks.computeIfAbsent(r.selfPc[i], _ -> new Task());
        case RecordBatch.INTERRUPT_ENTER -> task.contexts.add(new ArrayList<>());
        case RecordBatch.INTERRUPT_EXIT -> {
          if (task.contexts.size() == 1) {
            throw new IllegalStateException("record %d: no interrupt is open".formatted(i));
          }
          ended.add(task.contexts.removeLast());
        }
        default -> task.contexts.getLast().add(i);
      }
    }
    Map<String, TreeText> trees = new LinkedHashMap<>();
    tasks.forEach(
        (id, t) -> trees.put(Long.toUnsignedString(id, 16), tree(run, t.contexts.getFirst())));
    return new TaskTrees(trees, ended.stream().map(calls -> tree(run, calls)).toList());
  }

  private static TreeText tree(Run run, List<Integer> calls) {
    RecordBatch part = new RecordBatch(Math.max(1, calls.size()));
    calls.forEach(i -> part.addAll(run.records(), i, i + 1));
    long start = ImageLayout.landingPage(run.image().elf());
    long end = LandingPage.endOf(start, run.image().isa());
    return TreeText.of(part, run.image().elf(), at -> at >= start && at < end);
  }

  private static final class Task {
    /** Its own calls, and those of the interrupts that are open. */
    final List<List<Integer>> contexts = new ArrayList<>(List.of(new ArrayList<>()));
  }
}
