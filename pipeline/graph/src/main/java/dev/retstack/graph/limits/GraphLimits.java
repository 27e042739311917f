package dev.retstack.graph.limits;

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
public record GraphLimits(
    int maxDepth,
    int treeCallsPerCore,
    int anomaliesPerKind,
    int functions,
    int edges,
    int cores,
    int tasks,
    int stacks) {

  /** What a trace of a sane program does not reach. */
  public static final GraphLimits DEFAULT =
      new GraphLimits(65_536, 100_000, 100, 1 << 18, 1 << 20, 100_000, 4096, 0);

  /** A builder that begins with these limits. */
  public Builder but() {
    return new Builder(this);
  }

  /** These limits with another size of the call tree. */
  public GraphLimits withTreeCallsPerCore(int calls) {
    return but().treeCallsPerCore(calls).build();
  }

  /**
   * These limits for a state whose calls add up by their stacks: all of them pass through its call
   * trees. Runs of linked records are added up at once, others are rows first.
   */
  public GraphLimits withStacks(int nodes) {
    return but().treeCallsPerCore(Integer.MAX_VALUE).stacks(nodes).build();
  }

  /** Changes single limits. */
  public static final class Builder {
    private int maxDepth;
    private int treeCallsPerCore;
    private int anomaliesPerKind;
    private int functions;
    private int edges;
    private int cores;
    private int tasks;
    private int stacks;

    private Builder(GraphLimits from) {
      maxDepth = from.maxDepth;
      treeCallsPerCore = from.treeCallsPerCore;
      anomaliesPerKind = from.anomaliesPerKind;
      functions = from.functions;
      edges = from.edges;
      cores = from.cores;
      tasks = from.tasks;
      stacks = from.stacks;
    }

    /** Other frames of one ret_stack. */
    public Builder maxDepth(int limit) {
      maxDepth = limit;
      return this;
    }

    /** Other calls kept in the tree of a core. */
    public Builder treeCallsPerCore(int limit) {
      treeCallsPerCore = limit;
      return this;
    }

    /** Other rows of one kind kept per core. */
    public Builder anomaliesPerKind(int limit) {
      anomaliesPerKind = limit;
      return this;
    }

    /** Other functions of one image in one session. */
    public Builder functions(int limit) {
      functions = limit;
      return this;
    }

    /** Other call edges of one image in one session. */
    public Builder edges(int limit) {
      edges = limit;
      return this;
    }

    /** Other cores in one state. */
    public Builder cores(int limit) {
      cores = limit;
      return this;
    }

    /** Other tasks of one core. */
    public Builder tasks(int limit) {
      tasks = limit;
      return this;
    }

    /** Other nodes of stacks. */
    public Builder stacks(int limit) {
      stacks = limit;
      return this;
    }

    /** The limits as changed. */
    public GraphLimits build() {
      return new GraphLimits(
          maxDepth, treeCallsPerCore, anomaliesPerKind, functions, edges, cores, tasks, stacks);
    }
  }
}
