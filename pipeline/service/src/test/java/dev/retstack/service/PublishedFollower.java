package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Profile;
import dev.retstack.schema.Span;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.publish.DerivedRecords;
import dev.retstack.service.support.TopicReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads the published topics as their readers should: what is withdrawn is dropped. */
final class PublishedFollower {
  final List<Anomaly> anomalies = new ArrayList<>();
  final List<Span> spans = new ArrayList<>();
  final Map<String, Profile> profiles = new LinkedHashMap<>();
  int amendments;

  static PublishedFollower of(KafkaSettings kafka, Topics topics) throws CorruptChunkException {
    PublishedFollower follower = new PublishedFollower();
    for (byte[] value : TopicReader.values(kafka, topics.anomalies())) {
      follower.take(ConfluentFrame.decode(value, Anomaly.class));
    }
    for (byte[] value : TopicReader.values(kafka, topics.spans())) {
      follower.take(ConfluentFrame.decode(value, Span.class));
    }
    for (ConsumerRecord<byte[], byte[]> row : TopicReader.records(kafka, topics.profiles())) {
      follower.take(row);
    }
    return follower;
  }

  private void take(Anomaly next) {
    if (!next.getKind().equals(DerivedRecords.AMENDED)) {
      anomalies.add(next);
      return;
    }
    amendments++;
    anomalies.removeIf(
        a ->
            a.getSession().equals(next.getSession())
                && a.getCore().equals(next.getCore())
                && a.getRevision() < next.getRevision()
                && a.getChunk() >= next.getChunk());
  }

  private void take(Span next) {
    if (!next.getEnding().equals(DerivedRecords.AMENDED)) {
      spans.add(next);
      return;
    }
    spans.removeIf(
        s ->
            s.getSession().equals(next.getSession())
                && s.getCore().equals(next.getCore())
                && s.getRevision() < next.getRevision()
                && s.getChunk() >= next.getChunk());
  }

  private void take(ConsumerRecord<byte[], byte[]> row) throws CorruptChunkException {
    String key = new String(row.key(), UTF_8);
    if (row.value() == null) {
      profiles.remove(key);
    } else {
      profiles.put(key, ConfluentFrame.decode(row.value(), Profile.class));
    }
  }
}
