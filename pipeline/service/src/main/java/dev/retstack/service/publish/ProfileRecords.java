package dev.retstack.service.publish;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.totals.CallProfile;
import dev.retstack.graph.totals.CallTotals;
import dev.retstack.graph.totals.ProfileKey;
import dev.retstack.schema.wire.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Totals per function and per call edge as records of the profiles topic. Only rows that changed
 * since their last publication are published. A restart forgets what was published, which repeats
 * rows and changes none. A row that is gone, because a chunk came late, is deleted.
 *
 * <p>A checkpoint takes a limited number of rows, so neither its transaction nor its memory grows
 * with the profile. The next checkpoint continues there. No row waits for ever: a row that changed
 * again goes behind the others.
 */
final class ProfileRecords {
  /** Rows of one checkpoint: about 15 MB of records. */
  static final int ROWS_MAX = 50_000;

  private final Topics topics;
  private final int partition;
  private final int rowsMax;
  private final Map<ProfileKey, PublishedRows> published = new HashMap<>();

  /** Row at which the next pass begins to publish, counted over all profiles. */
  private long from;

  private boolean left;
  private boolean heldBefore;

  ProfileRecords(Topics topics, int partition, int rowsMax) {
    this.topics = topics;
    this.partition = partition;
    this.rowsMax = rowsMax;
  }

  /** Whether the last pass left rows that changed to the next. */
  boolean isLeft() {
    return left;
  }

  /** The next rows that changed, and all that are gone, as they are now. */
  List<ProfileRow> changed(GraphState state, long nextOffset) {
    heldBefore = !state.holding().isEmpty();
    Pass pass = walk(state, nextOffset, rowsMax);
    from = Math.max(pass.resume, 0);
    left = pass.left;
    return pass.changed;
  }

  /**
   * All rows that are gone and none that changed. They cannot wait as the others can: whoever opens
   * the next checkpoint publishes every row that is there, and knows of none that was there once.
   */
  List<ProfileRow> gone(GraphState state) {
    boolean holds = !state.holding().isEmpty();
    boolean mayLack = holds || heldBefore; // nothing else of what was told is taken back
    heldBefore = holds;
    return mayLack ? walk(state, 0, 0).changed : List.of();
  }

  private Pass walk(GraphState state, long nextOffset, int most) {
    Pass pass = new Pass(nextOffset, most);
    state.profiles(
        (key, profile) -> {
          pass.open(key, state.images().get(key.imageId()));
          rows(profile, pass);
        });
    if (pass.present < published.values().stream().mapToLong(PublishedRows::size).sum()) {
      Map<ProfileKey, PublishedRows> kept = new HashMap<>();
      state.profiles(
          (key, profile) -> kept.put(key, pass.delete(key, published.remove(key), profile)));
      published.forEach((key, rows) -> pass.delete(key, rows, null));
      published.clear();
      published.putAll(kept);
    }
    return pass;
  }

  /** These sessions are no longer in the state; nothing of them is deleted. */
  void forget(Set<String> sessions) {
    published.keySet().removeIf(key -> sessions.contains(key.session()));
  }

  /** What was published before the restart may have to be deleted, where chunks come late. */
  void opened(GraphState state) {
    for (CoreGraph core : state.holding()) {
      ProfileKey key = new ProfileKey(core.key().session(), core.image().id(), core.unit());
      PublishedRows rows = published.computeIfAbsent(key, _ -> new PublishedRows());
      rows(
          core.profile(),
          (caller, selfPc, _, _) -> {
            if (rows.digest(caller, selfPc) == 0) {
              rows.put(caller, selfPc, PublishedRows.UNKNOWN);
            }
          });
    }
  }

  private interface Rows {
    void row(Long caller, long selfPc, CallTotals totals, int id);
  }

  private static void rows(CallProfile profile, Rows visitor) {
    CallTotals functions = profile.functions(); // made anew by each call
    for (int id = 0; id < profile.functionCount(); id++) {
      visitor.row(null, profile.selfPc(id), functions, id);
    }
    CallTotals edges = profile.edges();
    for (int id = 0; id < profile.edgeCount(); id++) {
      long caller = profile.selfPc(profile.caller(id));
      visitor.row(caller, profile.selfPc(profile.callee(id)), edges, id);
    }
  }

  /** All numbers of a row: where a chunk came late, times change alone. */
  private static long digest(CallTotals totals, int id) {
    long digest = 1;
    for (long number :
        new long[] {
          totals.calls(id),
          totals.finished(id),
          totals.total(id),
          totals.self(id),
          totals.min(id),
          totals.max(id)
        }) {
      digest = (Long.rotateLeft(digest, 7) ^ number) * 0x9e3779b97f4a7c15L;
      digest ^= digest >>> 32;
    }
    return digest | 1; // neither that of no row nor that of an unknown one
  }

  /** Rows as records of the topic, on any thread. */
  List<ProducerRecord<byte[], byte[]>> records(List<ProfileRow> rows) {
    return rows.stream().map(row -> row.record(topics, partition)).toList();
  }

  /** One walk over all rows. */
  private final class Pass implements Rows {
    final List<ProfileRow> changed = new ArrayList<>();
    private final long nextOffset;
    private final int most;
    private ProfileKey key;
    private ImageInfo image;
    private PublishedRows before;
    private long seen;
    long present;
    long resume = -1;
    boolean left;

    Pass(long nextOffset, int most) {
      this.nextOffset = nextOffset;
      this.most = most;
    }

    void open(ProfileKey of, ImageInfo with) {
      key = of;
      image = with;
      before = published.computeIfAbsent(of, _ -> new PublishedRows());
    }

    @Override
    public void row(Long caller, long selfPc, CallTotals totals, int id) {
      long index = seen++;
      long then = before.digest(caller, selfPc);
      long now = digest(totals, id);
      if (then == now) {
        present++;
        return;
      }
      boolean full = changed.size() >= most;
      if (index < from || full) {
        present += then == 0 ? 0 : 1;
        left = true;
        resume = full && resume < 0 ? index : resume;
        return;
      }
      present++;
      before.put(caller, selfPc, now);
      changed.add(ProfileRow.of(key, image, caller, selfPc, totals, id, nextOffset));
    }

    /** What is left of these rows when those that the profile has no more are deleted. */
    PublishedRows delete(ProfileKey of, PublishedRows rows, CallProfile profile) {
      PublishedRows there = new PublishedRows();
      if (profile != null) {
        rows(profile, (caller, selfPc, _, _) -> there.put(caller, selfPc, PublishedRows.UNKNOWN));
      }
      PublishedRows kept = new PublishedRows();
      rows.forEach(
          (caller, selfPc) -> {
            if (there.digest(caller, selfPc) != 0) {
              kept.put(caller, selfPc, rows.digest(caller, selfPc));
            } else {
              changed.add(ProfileRow.deleted(of, caller, selfPc));
            }
          });
      return kept;
    }
  }
}
