package dev.retstack.graph.report;

import dev.retstack.graph.reconstruct.Ending;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** A call with the calls below it. Nesting can be as deep as ret_stack: walk it with a stack. */
public final class CallNode {
  private final String function;
  private final long selfPc;
  private final long enter;
  private final long exit;
  private final Ending ending;
  private final List<CallNode> children = new ArrayList<>(0);

  CallNode(String function, long selfPc, long enter, long exit, Ending ending) {
    this.function = function;
    this.selfPc = selfPc;
    this.enter = enter;
    this.exit = exit;
    this.ending = ending;
  }

  void add(CallNode child) {
    children.add(child);
  }

  /** Its symbol, or its address in hex where unknown. */
  public String function() {
    return function;
  }

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

  /** Calls it made, in order. */
  public List<CallNode> children() {
    return Collections.unmodifiableList(children);
  }

  @Override
  public String toString() {
    return "%s %d..%d %s (%d below)".formatted(function, enter, exit, ending, children.size());
  }
}
