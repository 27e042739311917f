package dev.retstack.service;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Anomaly;
import dev.retstack.schema.Profile;
import dev.retstack.schema.Span;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.support.TopicReader;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads the published topics. */
final class PublishedFollower {
  final List<Anomaly> anomalies = new ArrayList<>();
  final List<Span> spans = new ArrayList<>();
  final Map<String, Profile> profiles = new LinkedHashMap<>();

  static PublishedFollower of(KafkaSettings kafka, Topics topics) throws CorruptChunkException {
    PublishedFollower follower = new PublishedFollower();
    for (byte[] value : TopicReader.values(kafka, topics.anomalies())) {
      follower.anomalies.add(ConfluentFrame.decode(value, Anomaly.class));
    }
    for (byte[] value : TopicReader.values(kafka, topics.spans())) {
      follower.spans.add(ConfluentFrame.decode(value, Span.class));
    }
    for (ConsumerRecord<byte[], byte[]> row : TopicReader.records(kafka, topics.profiles())) {
      follower.profiles.put(
          new String(row.key(), UTF_8), ConfluentFrame.decode(row.value(), Profile.class));
    }
    return follower;
  }
}
