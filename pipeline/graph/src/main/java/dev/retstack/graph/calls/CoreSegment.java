package dev.retstack.graph.calls;

import dev.retstack.graph.input.CallerPcs;
import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.OtherImages;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.RecordLinks;
import java.util.Optional;

/**
 * Some chunks of a core that are rebuilt before those ahead of them: the keyframe of the first one
 * lists the calls that are open there. When the core has come that far, the segment is joined to
 * it, if its stack is what the keyframe said. Then the core is as if it had taken the chunks
 * itself. Else nothing is joined, and the core has to take them.
 *
 * <p>So a segment may be begun on a mere guess. What is rebuilt so is the plain case: a core of one
 * task without interrupts, losses or mapped images, of which no further call is kept in the tree.
 *
 * <p>The calls of the keyframe are the only rows of the segment's tree, each under its index in the
 * stack.
 */
public final class CoreSegment {
  private final CoreGraph graph;
  private final RecordLinks links = new RecordLinks();
  private final Keyframe begin;
  private final ChunkMeta first;
  private final long firstTime;

  private CoreSegment(CoreGraph graph, ChunkMeta first, RecordBatch batch) {
    this.graph = graph;
    this.first = first;
    this.begin = batch.keyframe();
    this.firstTime = batch.time[0];
  }

  /**
   * Begins with a chunk, which is {@link #apply applied} next.
   *
   * @param limits and rules of the state that the core is in
   * @return empty where the core cannot be rebuilt from this chunk on
   */
  public static Optional<CoreSegment> begin(
      CoreKey key,
      ImageInfo image,
      GraphLimits limits,
      TimeRules rules,
      ChunkMeta meta,
      RecordBatch batch) {
    Keyframe open = batch.keyframe();
    boolean isPlain =
        open != null
            && open.maps().size() == 0
            && meta.task() == 0
            && meta.interrupts() == 0
            && meta.lostBefore() == 0
            && batch.size() > 0
            && batch.kind[0] != RecordBatch.VALUES // of a record of the chunk before
            && open.end(0) == open.records().size()
            && open.leftOut(0) == 0
            && open.shown(0) == open.open(0);
    for (int i = 1; isPlain && i < open.records().size(); i++) {
      isPlain = !image.traits().isHandler(open.records().fromPc[i]);
    }
    if (!isPlain) {
      return Optional.empty();
    }
    ImageInfo alone = image.among(OtherImages.NONE);
    CallProfile profile =
        new CallProfile(limits.functions(), limits.edges(), StateBudget.UNLIMITED.open(0));
    CoreGraph graph =
        new CoreGraph(
            key,
            alone,
            meta.unit(),
            profile,
            new LinkedCalls(),
            new CallerPcs(alone, StateBudget.UNLIMITED.open(0)),
            limits.withTreeCallsPerCore(open.open(0)),
            rules,
            false,
            StateBudget.UNLIMITED.open(0));
    return graph.progress().inherit(meta, open)
        ? Optional.of(new CoreSegment(graph, meta, batch))
        : Optional.empty();
  }

  /** Takes the next chunk; a batch without links gets them. */
  public void apply(ChunkMeta meta, RecordBatch batch) {
    if (!batch.isLinked()) {
      links.fill(batch);
    }
    graph.apply(meta, batch, null);
  }

  /** The core that it is of. */
  public CoreKey key() {
    return graph.key();
  }

  /**
   * Joins it to its core, which has come to its first chunk. It is not used after this.
   *
   * @return false where the core is not as the keyframe said, or the segment not a plain one: then
   *     nothing was changed, and the core has to take the chunks
   */
  public boolean joinTo(CoreGraph core) {
    CoreReconstructor of = graph.progress();
    CoreReconstructor to = core.progress();
    boolean isNext =
        to.end() == CoreEnd.RUNNING
            && of.end() == CoreEnd.RUNNING
            && to.isAt(first)
            && to.time() <= firstTime;
    if (!isNext || !core.isPlain() || !graph.isPlain() || !to.fits(of, begin)) {
      return false;
    }
    return core.join(graph);
  }
}
