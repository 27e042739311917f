package dev.retstack.service.publish;

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
 * since their last publication are published. A state that is opened again publishes all its rows:
 * that repeats rows and changes none.
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

  ProfileRecords(Topics topics, int partition, int rowsMax) {
    this.topics = topics;
    this.partition = partition;
    this.rowsMax = rowsMax;
  }

  /** Whether the last pass left rows that changed to the next. */
  boolean isLeft() {
    return left;
  }

  /** A state was loaded: which of its rows were published is not known. */
  void opened() {
    published.clear();
    from = 0;
  }

  /** The next rows that changed, as they are now. */
  List<ProfileRow> changed(GraphState state, long nextOffset) {
    Pass pass = new Pass(nextOffset);
    state.profiles(
        (key, profile) -> {
          pass.open(key, state.images().get(key.imageId()));
          rows(profile, pass);
        });
    from = Math.max(pass.resume, 0);
    left = pass.left;
    return pass.changed;
  }

  /** These sessions are no longer in the state; what was published of them stays. */
  void forget(Set<String> sessions) {
    published.keySet().removeIf(key -> sessions.contains(key.session()));
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

  /** Of all numbers of a row. */
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
    return digest | 1; // not that of no row
  }

  /** Rows as records of the topic, on any thread. */
  List<ProducerRecord<byte[], byte[]>> records(List<ProfileRow> rows) {
    return rows.stream().map(row -> row.record(topics, partition)).toList();
  }

  /** One walk over all rows. */
  private final class Pass implements Rows {
    final List<ProfileRow> changed = new ArrayList<>();
    private final long nextOffset;
    private ProfileKey key;
    private ImageInfo image;
    private PublishedRows before;
    private long seen;
    long resume = -1;
    boolean left;

    Pass(long nextOffset) {
      this.nextOffset = nextOffset;
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
        return;
      }
      boolean full = changed.size() >= rowsMax;
      if (index < from || full) {
        left = true;
        resume = full && resume < 0 ? index : resume;
        return;
      }
      before.put(caller, selfPc, now);
      changed.add(ProfileRow.of(key, image, caller, selfPc, totals, id, nextOffset));
    }
  }
}
