package dev.retstack.service.aggregate;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.aggregate.CallProfile;
import dev.retstack.graph.aggregate.CallTotals;
import dev.retstack.graph.aggregate.CoreGraph;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.aggregate.ProfileKey;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.Profile;
import dev.retstack.schema.wire.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Totals per function and per call edge as records of the profiles topic. Only rows that changed
 * since they were last published are published again; what was published is forgotten at a restart,
 * which repeats rows and changes none. A row that is there no more, since a chunk came late, is
 * deleted.
 */
final class ProfileRecords {
  private final Topics topics;
  private final int partition;

  /** By key, a digest of the row's numbers; 0 for rows of which only the key is known. */
  private final Map<String, Long> published = new HashMap<>();

  private long rows;

  ProfileRecords(Topics topics, int partition) {
    this.topics = topics;
    this.partition = partition;
  }

  List<ProducerRecord<byte[], byte[]>> changed(GraphState state, long nextOffset) {
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    rows = 0;
    state
        .profiles()
        .forEach(
            (key, profile) -> {
              ImageInfo image = state.images().get(key.imageId());
              functions(records, key, image, profile, nextOffset);
              edges(records, key, image, profile, nextOffset);
            });
    if (rows < published.size()) {
      delete(records, state);
    }
    return records;
  }

  /** What was published before the restart may have to be deleted, where chunks come late. */
  void opened(GraphState state) {
    for (CoreGraph core : state.holding()) {
      names(core.key().session(), core.image().id(), core.profile())
          .forEach(name -> published.putIfAbsent(name, 0L));
    }
  }

  private void delete(List<ProducerRecord<byte[], byte[]>> into, GraphState state) {
    Set<String> gone = new HashSet<>(published.keySet());
    state.profiles().forEach((key, p) -> gone.removeAll(names(key.session(), key.imageId(), p)));
    for (String name : gone) {
      published.remove(name);
      into.add(new ProducerRecord<>(topics.profiles(), partition, name.getBytes(UTF_8), null));
    }
  }

  private Set<String> names(String session, String imageId, CallProfile profile) {
    Set<String> names = new HashSet<>();
    for (int id = 0; id < profile.functionCount(); id++) {
      names.add(name(session, imageId, null, profile.selfPc(id)));
    }
    for (int id = 0; id < profile.edgeCount(); id++) {
      long caller = profile.selfPc(profile.caller(id));
      names.add(name(session, imageId, caller, profile.selfPc(profile.callee(id))));
    }
    return names;
  }

  private String name(String session, String imageId, Long caller, long selfPc) {
    return "%s/%d/%s/%s/%x"
        .formatted(
            session, partition, imageId, caller == null ? "" : Long.toHexString(caller), selfPc);
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
    return digest;
  }

  private void functions(
      List<ProducerRecord<byte[], byte[]>> into,
      ProfileKey key,
      ImageInfo image,
      CallProfile profile,
      long nextOffset) {
    CallTotals totals = profile.functions();
    for (int id = 0; id < profile.functionCount(); id++) {
      add(into, key, image, null, profile.selfPc(id), totals, id, nextOffset);
    }
  }

  private void edges(
      List<ProducerRecord<byte[], byte[]>> into,
      ProfileKey key,
      ImageInfo image,
      CallProfile profile,
      long nextOffset) {
    CallTotals totals = profile.edges();
    for (int id = 0; id < profile.edgeCount(); id++) {
      long caller = profile.selfPc(profile.caller(id));
      long callee = profile.selfPc(profile.callee(id));
      add(into, key, image, caller, callee, totals, id, nextOffset);
    }
  }

  private void add(
      List<ProducerRecord<byte[], byte[]>> into,
      ProfileKey key,
      ImageInfo image,
      Long caller,
      long selfPc,
      CallTotals totals,
      int id,
      long nextOffset) {
    rows++;
    String name = name(key.session(), key.imageId(), caller, selfPc);
    Long now = digest(totals, id);
    if (now.equals(published.put(name, now))) {
      return;
    }
    Profile row =
        Profile.newBuilder()
            .setSession(key.session())
            .setPartition(partition)
            .setImage(key.imageId())
            .setIsa(image.isa())
            .setClockUnit(ClockUnit.valueOf(key.unit().name()))
            .setCaller(caller)
            .setSelfpc(selfPc)
            .setFunction(image.symbols().name(selfPc))
            .setCalls(totals.calls(id))
            .setTotal(totals.total(id))
            .setSelf(totals.self(id))
            .setMin(totals.min(id))
            .setMax(totals.max(id))
            .setFinished(totals.finished(id))
            .setOffset(nextOffset)
            .build();
    into.add(
        PublishedRecord.of(
            topics.profiles(), partition, name.getBytes(UTF_8), row, key.session(), image.isa()));
  }
}
