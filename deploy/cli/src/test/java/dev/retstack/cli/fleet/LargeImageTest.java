package dev.retstack.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.publish.ChunkSink;
import dev.retstack.fleet.publish.KafkaChunkSink;
import dev.retstack.schema.Image;
import dev.retstack.schema.OtherName;
import dev.retstack.schema.SourceLine;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * An image that Kafka finds too large goes without its source lines, then without aliases, but
 * never without names.
 */
class LargeImageTest {
  private static final int REQUEST_MAX = 20_000;

  private static Image image(String id, int functions, boolean lines, boolean aliases) {
    List<Symbol> symbols = new ArrayList<>();
    List<String> files = new ArrayList<>();
    List<SourceLine> places = new ArrayList<>();
    List<OtherName> others = new ArrayList<>();
    for (int i = 0; i < functions; i++) {
      symbols.add(new Symbol("function_" + i, 0x1000L + 16L * i, 16L));
      files.add("a/folder/of/sources/that/have/long/names/source_file_number_" + i + ".c");
      places.add(new SourceLine(i, i, 10 + i));
      others.add(new OtherName(i, "alias_" + i));
    }
    return Image.newBuilder()
        .setBuildId(id)
        .setName("large.elf")
        .setIsa("x86_64")
        .setConvention("fentry")
        .setWordBytes(8)
        .setBigEndian(false)
        .setSymbols(symbols)
        .setOtherNames(aliases ? others : List.of())
        .setFiles(lines ? files : List.of())
        .setLines(lines ? places : List.of())
        .build();
  }

  @Test
  @Timeout(120)
  void linesAndAliasesAreLeftOutBeforeNames(@TempDir Path folder) throws Exception {
    Topics topics = Topics.standard();
    try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"), 0)) {
      new KafkaLink(KafkaSettings.of(broker.bootstrap()), topics).ensureTopics();
      Map<String, Object> settings =
          Map.of("bootstrap.servers", broker.bootstrap(), "max.request.size", REQUEST_MAX);
      try (ChunkSink sink = KafkaChunkSink.open(settings, topics)) {
        sink.image(image("aa", 100, true, true));
        sink.image(image("bb", 400, true, true));
        sink.image(image("cc", 900, true, true));
        assertThatThrownBy(() -> sink.image(image("dd", 2_000, true, true)))
            .isInstanceOf(IOException.class)
            .hasMessageContaining("max.request.size");
      }
      assertThat(read(broker, topics))
          .containsExactly(
              image("aa", 100, true, true),
              image("bb", 400, false, true),
              image("cc", 900, false, false));
    }
  }

  private static List<Image> read(EmbeddedBroker broker, Topics topics) throws Exception {
    List<Image> images = new ArrayList<>();
    try (var consumer =
        new KafkaConsumer<>(
            Map.of("bootstrap.servers", broker.bootstrap()),
            new ByteArrayDeserializer(),
            new ByteArrayDeserializer())) {
      List<TopicPartition> all =
          consumer.partitionsFor(topics.images()).stream()
              .map(one -> new TopicPartition(one.topic(), one.partition()))
              .toList();
      consumer.assign(all);
      consumer.seekToBeginning(all);
      while (images.size() < 3) {
        for (var message : consumer.poll(Duration.ofSeconds(1))) {
          images.add(ConfluentFrame.decode(message.value(), Image.class));
        }
      }
    }
    images.sort(Comparator.comparing(Image::getBuildId));
    return images;
  }
}
