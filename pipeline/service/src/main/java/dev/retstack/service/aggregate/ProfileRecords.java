package dev.retstack.service.aggregate;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.graph.aggregate.CallProfile;
import dev.retstack.graph.aggregate.CallTotals;
import dev.retstack.graph.aggregate.GraphState;
import dev.retstack.graph.aggregate.ImageInfo;
import dev.retstack.graph.aggregate.ProfileKey;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.Profile;
import dev.retstack.schema.wire.Topics;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * Totals per function and per call edge as records of the profiles topic. Only rows that changed
 * since they were last published are published again; what was published is forgotten at a restart,
 * which repeats rows and changes none.
 */
final class ProfileRecords {
  /** Calls alone do not tell: a call that finishes changes a row without a new entry. */
  private record Version(long calls, long finished) {}

  private final Topics topics;
  private final int partition;
  private final Map<String, Version> published = new HashMap<>();

  ProfileRecords(Topics topics, int partition) {
    this.topics = topics;
    this.partition = partition;
  }

  List<ProducerRecord<byte[], byte[]>> changed(GraphState state, long nextOffset) {
    List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
    state
        .profiles()
        .forEach(
            (key, profile) -> {
              ImageInfo image = state.images().get(key.imageId());
              functions(records, key, image, profile, nextOffset);
              edges(records, key, image, profile, nextOffset);
            });
    return records;
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
    String name =
        "%s/%d/%s/%s/%x"
            .formatted(
                key.session(),
                partition,
                key.imageId(),
                caller == null ? "" : Long.toHexString(caller),
                selfPc);
    Version now = new Version(totals.calls(id), totals.finished(id));
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
