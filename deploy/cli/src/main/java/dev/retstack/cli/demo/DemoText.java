package dev.retstack.cli.demo;

import dev.retstack.cli.option.Tables;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.report.Report;
import dev.retstack.service.export.AnomalyText;
import dev.retstack.service.export.GraphText;
import dev.retstack.service.export.ReportText;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** The result of the fleet, for eyes: a tree per ISA, the report, every anomaly. */
public final class DemoText {
  private static final int FUNCTIONS = 20;
  private static final int TREE_LINES = 52;

  /** Programs whose trees are short and show something: a tail call, a corrupted frame. */
  private static final Set<String> SHOWN = Set.of("run_corrupt", "run_tail");

  private final PrintStream out;

  public DemoText(PrintStream out) {
    this.out = out;
  }

  /** The tree of one core per ISA. */
  public void trees(List<CallTree> trees, List<AnomalyRow> anomalies) throws IOException {
    Map<String, CallTree> onePerIsa = new LinkedHashMap<>();
    trees.forEach(tree -> onePerIsa.putIfAbsent(tree.isa(), tree));
    for (CallTree tree : onePerIsa.values()) {
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
      out.println("  ... " + (lines.size() - TREE_LINES) + " more lines");
    }
  }

  private static boolean within(AnomalyRow anomaly, List<CallNode> roots) {
    return roots.stream()
        .anyMatch(root -> root.enter() <= anomaly.time() && anomaly.time() <= root.exit());
  }

  /** The function report with stats, completeness and hash. */
  public void report(Report report) throws IOException {
    head("function report over the fleet, " + FUNCTIONS + " of " + report.functions().size());
    ReportText.write(report, FUNCTIONS, out);
  }

  /** Every anomaly, those of one function counted together, and the gravest in full. */
  public void anomalies(List<AnomalyRow> anomalies) throws IOException {
    head(anomalies.size() + " anomalies, by function");
    record Group(Severity severity, AnomalyKind kind, String function) {}
    Comparator<Group> gravestFirst =
        Comparator.comparing(Group::severity)
            .reversed()
            .thenComparing(Group::kind)
            .thenComparing(Group::function);
    Map<Group, List<AnomalyRow>> groups = new TreeMap<>(gravestFirst);
    for (AnomalyRow row : anomalies) {
      Group group = new Group(row.severity(), row.kind(), symbol(row));
      groups.computeIfAbsent(group, _ -> new ArrayList<>()).add(row);
    }
    List<List<String>> rows = new ArrayList<>();
    groups.forEach(
        (group, members) -> {
          Set<String> cores = new TreeSet<>();
          members.forEach(row -> cores.add(row.core()));
          rows.add(
              List.of(
                  group.severity().name(),
                  group.kind().name(),
                  group.function(),
                  String.valueOf(members.size()),
                  String.valueOf(cores.size())));
        });
    Tables.text(out, List.of("SEVERITY", "KIND", "FUNCTION", "COUNT", "CORES"), rows);
    List<AnomalyRow> planted =
        anomalies.stream()
            .filter(row -> row.kind() == AnomalyKind.FRAME_POINTER_MISMATCH)
            .limit(1)
            .toList();
    if (!planted.isEmpty()) {
      out.println();
      AnomalyText.write(planted, out);
    }
  }

  /** The function without the offset of its counting call, which differs from ISA to ISA. */
  private static String symbol(AnomalyRow row) {
    return row.function().replaceFirst("\\+0x[0-9a-f]+$", "");
  }

  private void head(String text) {
    out.println();
    out.println("== " + text);
    out.println();
  }
}
