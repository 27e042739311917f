package dev.retstack.graph.report;

import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.CallTotals;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/** Rows of the functions and edges of profiles, in the order of reports. */
public final class ProfileRows {
  public static final Comparator<FunctionRow> FUNCTION_ORDER =
      Comparator.comparingLong(FunctionRow::total)
          .reversed()
          .thenComparing(FunctionRow::name)
          .thenComparing(FunctionRow::imageId)
          .thenComparing(FunctionRow::selfPc, Long::compareUnsigned);

  private static final Comparator<EdgeRow> EDGE_ORDER =
      Comparator.comparingLong(EdgeRow::total)
          .reversed()
          .thenComparing(EdgeRow::caller)
          .thenComparing(EdgeRow::callee)
          .thenComparing(EdgeRow::imageId)
          .thenComparing(EdgeRow::callerPc, Long::compareUnsigned)
          .thenComparing(EdgeRow::calleePc, Long::compareUnsigned);

  private final List<FunctionRow> functions = new ArrayList<>();
  private final List<EdgeRow> edges = new ArrayList<>();

  /** Adds the rows of a profile; one for each image. */
  ProfileRows add(ImageInfo image, CallProfile profile) {
    addFunctions(image, profile);
    addEdges(image, profile);
    return this;
  }

  List<FunctionRow> functions() {
    functions.sort(FUNCTION_ORDER);
    return Collections.unmodifiableList(functions);
  }

  List<EdgeRow> edges() {
    edges.sort(EDGE_ORDER);
    return Collections.unmodifiableList(edges);
  }

  private void addFunctions(ImageInfo image, CallProfile profile) {
    CallTotals t = profile.functions();
    for (int i = 0; i < profile.functionCount(); i++) {
      if (t.calls(i) == 0) {
        continue; // a caller that has no call site of its own
      }
      long selfPc = profile.selfPc(i);
      functions.add(
          new FunctionRow(
              image.symbols().name(selfPc),
              image.symbols().start(selfPc),
              selfPc,
              image.name(),
              image.id(),
              image.isa(),
              t.calls(i),
              t.finished(i),
              t.total(i),
              t.sum(i),
              t.self(i),
              t.min(i),
              t.max(i)));
    }
  }

  private void addEdges(ImageInfo image, CallProfile profile) {
    CallTotals t = profile.edges();
    for (int i = 0; i < profile.edgeCount(); i++) {
      long caller = profile.selfPc(profile.caller(i));
      long callee = profile.selfPc(profile.callee(i));
      edges.add(
          new EdgeRow(
              image.symbols().name(caller),
              image.symbols().name(callee),
              caller,
              callee,
              image.name(),
              image.id(),
              image.isa(),
              t.calls(i),
              t.finished(i),
              t.total(i),
              t.self(i),
              t.min(i),
              t.max(i)));
    }
  }
}
