package dev.retstack.graph.aggregate;

/**
 * A limit on everything that a stream can make grow. What lies beyond is counted, never silently
 * dropped.
 *
 * @param maxDepth frames of one ret_stack; deeper records are refused
 * @param treeCallsPerCore calls of one core kept in its call tree
 * @param anomaliesPerKind rows of one kind kept per core; with ten kinds ten times as many in all
 * @param functions functions of one image in one session
 * @param edges call edges of one image in one session
 * @param cores cores in one state
 * @param tasks tasks of one core, those included that are over; twice as many stacks
 * @param late chunks held behind gaps
 */
public record GraphLimits(
    int maxDepth,
    int treeCallsPerCore,
    int anomaliesPerKind,
    int functions,
    int edges,
    int cores,
    int tasks,
    LateLimits late) {

  /** What a trace of a sane program does not reach. */
  public static final GraphLimits DEFAULT =
      new GraphLimits(65_536, 100_000, 100, 1 << 18, 1 << 20, 100_000);

  /** Limits with the usual number of tasks. */
  public GraphLimits(
      int maxDepth,
      int treeCallsPerCore,
      int anomaliesPerKind,
      int functions,
      int edges,
      int cores) {
    this(maxDepth, treeCallsPerCore, anomaliesPerKind, functions, edges, cores, 4096);
  }

  /** Limits with the usual number of chunks held behind gaps. */
  public GraphLimits(
      int maxDepth,
      int treeCallsPerCore,
      int anomaliesPerKind,
      int functions,
      int edges,
      int cores,
      int tasks) {
    this(
        maxDepth,
        treeCallsPerCore,
        anomaliesPerKind,
        functions,
        edges,
        cores,
        tasks,
        LateLimits.DEFAULT);
  }

  /** The same limits with another size of the call tree. */
  public GraphLimits withTreeCallsPerCore(int calls) {
    return new GraphLimits(maxDepth, calls, anomaliesPerKind, functions, edges, cores, tasks, late);
  }

  /** The same limits with others of chunks held behind gaps. */
  public GraphLimits withLate(LateLimits held) {
    return new GraphLimits(
        maxDepth, treeCallsPerCore, anomaliesPerKind, functions, edges, cores, tasks, held);
  }
}
