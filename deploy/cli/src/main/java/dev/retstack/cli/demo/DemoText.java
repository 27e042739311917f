package dev.retstack.cli.demo;

import dev.retstack.answers.export.GraphText;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.TextTable;
import dev.retstack.answers.view.AnomaliesView;
import dev.retstack.answers.view.ReportView;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Count;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.AnomalySum;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.Report;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/** The result of the demo's fleet as text: its ISAs, some trees, the report, every anomaly. */
public final class DemoText {
  private static final int FUNCTIONS = 20;
  private static final int TREE_LINES = 52;

  /** Programs whose trees are short and show something: a tail call, a corrupted frame. */
  private static final Set<String> SHOWN = Set.of("run_corrupt", "run_tail");

  private final PrintStream out;

  public DemoText(PrintStream out) {
    this.out = out;
  }

  /** What ran: a line per ISA, in the order of the capability table. */
  public void fleet(List<CoreSpec> cores, List<CoreResult> results) throws IOException {
    Map<String, CoreResult> byName = new HashMap<>();
    results.forEach(result -> byName.put(result.name(), result));
    TextTable table =
        new TextTable("ISA", "BITS", "ORDER", "CORES", "INSTRUCTIONS", "RECORDS", "CONVENTIONS");
    int isas = 0;
    for (Isa isa : Isas.all()) {
      List<CoreSpec> own = cores.stream().filter(core -> core.image().isa().equals(isa)).toList();
      List<CoreResult> ended = own.stream().map(core -> byName.get(core.name())).toList();
      if (!own.isEmpty()) {
        isas++;
        table.row(
            isa.name(),
            String.valueOf(isa.wordBytes() * Byte.SIZE),
            isa.order() == ByteOrder.BIG_ENDIAN ? "big" : "little",
            String.valueOf(own.size()),
            "%,d".formatted(ended.stream().mapToLong(CoreResult::instructions).sum()),
            "%,d".formatted(ended.stream().mapToLong(CoreResult::records).sum()),
            own.stream()
                .map(core -> Zoo.card(core.image()).name())
                .distinct()
                .collect(Collectors.joining(" ")));
      }
    }
    head("the fleet: " + cores.size() + " cores of " + isas + " ISAs on the same topics");
    table.write(out);
  }

  /** The tree of one core for each word size and byte order. */
  public void trees(List<CallTree> trees, List<AnomalyRow> anomalies) throws IOException {
    record Kind(int wordBytes, ByteOrder order) {}
    Map<Kind, CallTree> oneOfEach = new LinkedHashMap<>();
    for (Isa isa : Isas.all()) {
      trees.stream()
          .filter(tree -> tree.isa().equals(isa.name()))
          .findFirst()
          .ifPresent(tree -> oneOfEach.putIfAbsent(new Kind(isa.wordBytes(), isa.order()), tree));
    }
    for (CallTree tree : oneOfEach.values()) {
      head("call tree of " + tree.core() + ", two of its programs");
      tree(tree, anomalies);
    }
  }

  private void tree(CallTree tree, List<AnomalyRow> anomalies) throws IOException {
    List<CallNode> shown = new ArrayList<>();
    boolean follows = false;
    for (CallNode root : tree.roots()) {
      // what a program tail-called stands beside it and belongs to it
      follows = root.function().startsWith("run_") ? SHOWN.contains(root.function()) : follows;
      if (follows) {
        shown.add(root);
      }
    }
    CallTree part =
        new CallTree(
            tree.session(),
            tree.core(),
            tree.task(),
            tree.instance(),
            tree.taskName(),
            tree.image(),
            tree.isa(),
            tree.unit(),
            shown,
            tree.kept(),
            tree.notKept());
    List<AnomalyRow> ofThese =
        anomalies.stream().filter(a -> a.core().equals(tree.core()) && within(a, shown)).toList();
    StringBuilder text = new StringBuilder();
    GraphText.write(List.of(part), ofThese, text);
    List<String> lines = text.toString().lines().toList();
    lines.stream().limit(TREE_LINES).forEach(out::println);
    if (lines.size() > TREE_LINES) {
      out.println("  ... " + Count.of(lines.size() - TREE_LINES, "more line"));
    }
  }

  private static boolean within(AnomalyRow anomaly, List<CallNode> roots) {
    return roots.stream()
        .anyMatch(root -> root.enter() <= anomaly.time() && anomaly.time() <= root.exit());
  }

  /** The function report with stats, completeness and hash. */
  public void report(Report report) throws IOException {
    head("function report over the fleet, " + FUNCTIONS + " of " + report.functions().size());
    out.print(ReportView.of(report, FUNCTIONS).as(Format.TEXT));
  }

  /**
   * Every anomaly, those of one function and place of the program counted together, and the gravest
   * in full.
   */
  public void anomalies(List<AnomalySum> groups) throws IOException {
    head(
        Count.grouped(groups.stream().mapToLong(AnomalySum::times).sum(), "anomaly", "anomalies")
            + ", by function and place");
    TextTable table = new TextTable("SEVERITY", "KIND", "FUNCTION", "PLACE", "COUNT", "CORES");
    for (AnomalySum group : groups) {
      table.row(
          group.severity().name(),
          group.kind().name(),
          group.function(),
          group.place(),
          String.valueOf(group.times()),
          String.valueOf(group.cores()));
    }
    table.write(out);
    List<AnomalySum> planted =
        groups.stream()
            .filter(row -> row.kind() == AnomalyKind.FRAME_POINTER_MISMATCH)
            .limit(1)
            .toList();
    if (!planted.isEmpty()) {
      out.println();
      out.print(AnomaliesView.of(planted).as(Format.TEXT));
    }
  }

  private void head(String text) {
    out.println();
    out.println("== " + text);
    out.println();
  }
}
