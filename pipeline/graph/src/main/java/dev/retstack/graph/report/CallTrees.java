package dev.retstack.graph.report;

import dev.retstack.graph.input.CoreKey;
import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;
import java.util.function.UnaryOperator;

/**
 * Call trees of some cores, by core. Their calls may be larger than the memory: a tree is made when
 * it is its turn, and the calls of one core are in memory at a time. What stands over a tree is
 * known without its calls. For one thread.
 */
public final class CallTrees extends AbstractList<CallTree> {
  private final List<CallTree> heads = new ArrayList<>();
  private final List<ReportBuilder.Place> places = new ArrayList<>();
  private final UnaryOperator<CallTree> shown;
  private CoreKey last;
  private List<CallTree> ofLast = List.of();

  /**
   * Trees of cores.
   *
   * @param cores those that are looked at
   * @param wanted of their trees, by what stands over them
   * @param shown what is shown of a tree
   */
  CallTrees(
      List<ReportBuilder.Place> cores, Predicate<CallTree> wanted, UnaryOperator<CallTree> shown) {
    this.shown = shown;
    for (ReportBuilder.Place place : cores) {
      for (CallTree head : CallTree.only(CallTree.heads(place.read()), wanted)) {
        heads.add(head);
        places.add(place);
      }
    }
  }

  /** What stands over each tree; their calls are left out. */
  public List<CallTree> heads() {
    return List.copyOf(heads);
  }

  @Override
  public CallTree get(int index) {
    CallTree head = heads.get(index);
    ReportBuilder.Place place = places.get(index);
    if (!place.core().key().equals(last)) {
      ofLast = List.of(); // garbage before the next ones are made
      ofLast = CallTree.of(place.read());
      last = place.core().key();
    }
    CallTree tree = ofLast.stream().filter(head::isOf).findFirst().orElseThrow();
    return shown.apply(tree.notKept(head.notKept()));
  }

  @Override
  public int size() {
    return heads.size();
  }
}
