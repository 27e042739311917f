package dev.retstack.graph.limits;

import io.soabase.recordbuilder.core.RecordBuilder;

/**
 * Limits on everything that a stream can make grow. What is beyond them is counted, never silently
 * dropped.
 *
 * @param maxDepth frames of one ret_stack; deeper records are refused
 * @param treeCallsPerCore calls of one core kept in its call tree
 * @param anomaliesPerKind rows of one kind kept per core; with ten kinds ten times as many in all
 * @param functions functions of one image in one session
 * @param edges call edges of one image in one session
 * @param cores cores in one state
 * @param tasks tasks of one core, those included that are over; twice as many stacks
 * @param stacks nodes of the stacks by which the calls of a core add up; 0 = that is not asked for
 */
@RecordBuilder
public record GraphLimits(
    int maxDepth,
    int treeCallsPerCore,
    int anomaliesPerKind,
    int functions,
    int edges,
    int cores,
    int tasks,
    int stacks)
    implements GraphLimitsBuilder.With {

  /** What a trace of a sane program does not reach. */
  public static final GraphLimits DEFAULT =
      new GraphLimits(65_536, 100_000, 100, 1 << 18, 1 << 20, 100_000, 4096, 0);

  /** A builder that begins with these limits. */
  public GraphLimitsBuilder but() {
    return with();
  }

  /**
   * These limits for a state whose calls add up by their stacks: all of them pass through its call
   * trees. Runs of linked records are added up at once, others are rows first.
   */
  @Override
  public GraphLimits withStacks(int nodes) {
    return but().treeCallsPerCore(Integer.MAX_VALUE).stacks(nodes).build();
  }
}
