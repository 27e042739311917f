package dev.retstack.graph.report;

import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.RecordedValues;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.record.FunctionName;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/**
 * A call with the calls below it, or another row between them ({@link #kind}). Nesting can be as
 * deep as ret_stack: walk it with a stack.
 */
public final class CallNode {
  private final TreeKind kind;
  private final FunctionName function;
  private final SourceLine source;
  private final long selfPc;
  private final long enter;
  private final long exit;
  private final Ending ending;
  private final Recorded recorded;
  private final long deadBy;
  private final long notRun;
  private final long leftOut;
  private final List<CallNode> children = new ArrayList<>(0);

  /**
   * What was recorded with a node.
   *
   * @param arguments of a call or system call, raw
   * @param results what it returned, raw
   * @param wordBytes bytes of a register, 4 or 8
   * @param caller name of the caller of a {@link TreeKind#FUNCTION}, of the function of a mark
   * @param command number of the command of a {@link TreeKind#MARK}, 0 for none
   * @param stack names of the open calls of a mark, innermost first
   * @param loss of a {@link TreeKind#LOSS}
   */
  public record Recorded(
      RecordedValues arguments,
      RecordedValues results,
      int wordBytes,
      String caller,
      long command,
      List<String> stack,
      Optional<Loss> loss) {
    static final Recorded NOTHING =
        new Recorded(
            RecordedValues.NONE,
            RecordedValues.NONE,
            Long.BYTES,
            "",
            0,
            List.of(),
            Optional.empty());

    public Recorded {
      stack = List.copyOf(stack);
    }
  }

  CallNode(
      TreeKind kind,
      FunctionName function,
      SourceLine source,
      long selfPc,
      long enter,
      long exit,
      Ending ending,
      long deadBy,
      long notRun,
      long leftOut,
      Recorded recorded) {
    this.kind = kind;
    this.function = function;
    this.source = source;
    this.selfPc = selfPc;
    this.enter = enter;
    this.exit = exit;
    this.ending = ending;
    this.deadBy = deadBy;
    this.notRun = notRun;
    this.leftOut = leftOut;
    this.recorded = recorded;
  }

  /** This node without what is below it. */
  CallNode alone() {
    return new CallNode(
        kind, function, source, selfPc, enter, exit, ending, deadBy, notRun, leftOut, recorded);
  }

  void add(CallNode child) {
    children.add(child);
  }

  /** What it is. */
  public TreeKind kind() {
    return kind;
  }

  /** Whether it is a call with a separate frame and time. */
  public boolean isCall() {
    return kind == TreeKind.CALL;
  }

  /** Symbol of a function, or its address in hex; name of a system call or mark. */
  public String function() {
    return function.shown();
  }

  /** All names of a function. */
  public FunctionName names() {
    return function;
  }

  /** Where a function begins in its source. */
  public SourceLine source() {
    return source;
  }

  /** selfPc; number of a system call. */
  public long selfPc() {
    return selfPc;
  }

  public long enter() {
    return enter;
  }

  /** Time of the end; the last time it was known to be open where the end is unknown. */
  public long exit() {
    return exit;
  }

  public Ending ending() {
    return ending;
  }

  /** Time by which a truncated call had ended, negative where it is unknown. */
  public long deadBy() {
    return deadBy;
  }

  /** How long it took, as totals count it: see {@link dev.retstack.graph.totals.TimeRules}. */
  public long took() {
    return exit - enter - leftOut;
  }

  /** How long it ran, with the calls below it: other tasks and interrupts left out. */
  public long ran() {
    return exit - enter - notRun;
  }

  /** The loss of a node of {@link TreeKind#LOSS}. */
  public Loss loss() {
    return recorded.loss().orElseThrow();
  }

  /** Values and names that belong to it. */
  public Recorded recorded() {
    return recorded;
  }

  /** Calls it made, in order, and what else happened in it. */
  public List<CallNode> children() {
    return Collections.unmodifiableList(children);
  }

  @Override
  public String toString() {
    return "%s %d..%d %s (%d below)".formatted(function(), enter, exit, ending, children.size());
  }
}
