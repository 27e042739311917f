package dev.retstack.graph.report;

import dev.retstack.graph.aggregate.RecordedValues;
import dev.retstack.graph.aggregate.TreeKind;
import dev.retstack.graph.reconstruct.Ending;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/**
 * A call with the calls below it, or something else that happened between them ({@link #kind}).
 * Nesting can be as deep as ret_stack: walk it with a stack.
 */
public final class CallNode {
  private final TreeKind kind;
  private final String function;
  private final long selfPc;
  private final long enter;
  private final long exit;
  private final Ending ending;
  private final Recorded recorded;
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
   */
  public record Recorded(
      RecordedValues arguments,
      RecordedValues results,
      int wordBytes,
      String caller,
      long command,
      List<String> stack) {
    static final Recorded NOTHING =
        new Recorded(RecordedValues.NONE, RecordedValues.NONE, Long.BYTES, "", 0, List.of());

    public Recorded {
      stack = List.copyOf(stack);
    }
  }

  CallNode(
      TreeKind kind,
      String function,
      long selfPc,
      long enter,
      long exit,
      Ending ending,
      Recorded recorded) {
    this.kind = kind;
    this.function = function;
    this.selfPc = selfPc;
    this.enter = enter;
    this.exit = exit;
    this.ending = ending;
    this.recorded = recorded;
  }

  void add(CallNode child) {
    children.add(child);
  }

  /** What it is. */
  public TreeKind kind() {
    return kind;
  }

  /** Whether it is a call with a frame and a time of its own. */
  public boolean isCall() {
    return kind == TreeKind.CALL;
  }

  /** Its symbol, or its address in hex where unknown; name of the system call or of the mark. */
  public String function() {
    return function;
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
    return "%s %d..%d %s (%d below)".formatted(function, enter, exit, ending, children.size());
  }
}
