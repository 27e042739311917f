package dev.retstack.graph.report;

import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.CallTotals;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Rows of the functions and edges of profiles, in the order of reports. */
public final class ProfileRows {
  public static final Comparator<FunctionRow> FUNCTION_ORDER =
      Comparator.comparingLong(FunctionRow::total)
          .reversed()
          .thenComparing(FunctionRow::name)
          .thenComparing(FunctionRow::imageId)
          .thenComparing(FunctionRow::selfPc, Long::compareUnsigned)
          .thenComparing(FunctionRow::session)
          .thenComparing(FunctionRow::program);

  static final Comparator<EdgeRow> EDGE_ORDER =
      Comparator.comparingLong(EdgeRow::total)
          .reversed()
          .thenComparing(EdgeRow::caller)
          .thenComparing(EdgeRow::callee)
          .thenComparing(EdgeRow::imageId)
          .thenComparing(EdgeRow::callerPc, Long::compareUnsigned)
          .thenComparing(EdgeRow::calleePc, Long::compareUnsigned)
          .thenComparing(EdgeRow::callerImageId)
          .thenComparing(EdgeRow::session)
          .thenComparing(EdgeRow::program)
          .thenComparing(EdgeRow::callerProgram);

  private record Function(String session, String imageId, long selfPc) {}

  private record Edge(Function caller, Function callee) {}

  private final Map<Function, FunctionRow> functions = new HashMap<>();
  private final Map<Edge, EdgeRow> edges = new HashMap<>();

  /**
   * Adds the rows of a profile; functions of images that several map are one row.
   *
   * @param session whose rows they are; empty where all are added up
   */
  ProfileRows add(String session, ImageInfo image, CallProfile profile) {
    addFunctions(session, image, profile);
    addEdges(session, image, profile);
    return this;
  }

  List<FunctionRow> functions() {
    List<FunctionRow> rows = new ArrayList<>(functions.values());
    rows.sort(FUNCTION_ORDER);
    return Collections.unmodifiableList(rows);
  }

  List<EdgeRow> edges() {
    List<EdgeRow> rows = new ArrayList<>(edges.values());
    rows.sort(EDGE_ORDER);
    return Collections.unmodifiableList(rows);
  }

  private void addFunctions(String session, ImageInfo image, CallProfile profile) {
    CallTotals t = profile.functions();
    for (int i = 0; i < profile.functionCount(); i++) {
      if (t.calls(i) == 0) {
        continue; // a caller that has no separate call site
      }
      long pc = profile.selfPc(i);
      ImageInfo of = image.of(pc);
      long selfPc = image.in(pc);
      functions.merge(
          new Function(session, of.id(), selfPc),
          new FunctionRow(
              session,
              image.names().function(pc),
              of.symbols().start(selfPc),
              selfPc,
              of.name(),
              of.id(),
              of.isa(),
              image.programOf(pc),
              1,
              1,
              image.names().source(pc),
              t.calls(i),
              t.finished(i),
              t.total(i),
              t.sum(i),
              t.self(i),
              t.min(i),
              t.max(i),
              t.wall(i)),
          FunctionRow::plus);
    }
  }

  private void addEdges(String session, ImageInfo image, CallProfile profile) {
    CallTotals t = profile.edges();
    for (int i = 0; i < profile.edgeCount(); i++) {
      long caller = profile.selfPc(profile.caller(i));
      long callee = profile.selfPc(profile.callee(i));
      ImageInfo of = image.of(callee);
      Function from = new Function(session, image.of(caller).id(), image.in(caller));
      Function to = new Function(session, of.id(), image.in(callee));
      edges.merge(
          new Edge(from, to),
          new EdgeRow(
              session,
              image.names().name(caller),
              image.names().name(callee),
              from.selfPc,
              to.selfPc,
              of.name(),
              of.id(),
              of.isa(),
              image.of(caller).name(),
              from.imageId,
              image.programOf(callee),
              image.programOf(caller),
              1,
              1,
              t.calls(i),
              t.finished(i),
              t.total(i),
              t.self(i),
              t.min(i),
              t.max(i)),
          EdgeRow::plus);
    }
  }
}
