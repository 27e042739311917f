package dev.retstack.answers.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.support.CoreScript;
import dev.retstack.answers.support.RandomFleet;
import dev.retstack.answers.support.States;
import dev.retstack.graph.calls.Breaking;
import dev.retstack.graph.input.CoreEnd;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.report.StatRow;
import dev.retstack.graph.state.GraphState;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.schema.file.TraceFileWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TraceReplayTest {
  private final List<CoreScript> fleet = RandomFleet.of(20262, 3, 2_000);
  @TempDir private Path dir;

  @Test
  void aFileGivesWhatItsChunksGive() throws IOException {
    List<Long> heard = new ArrayList<>();
    TraceReplay.Replayed replayed =
        TraceReplay.read(write("whole.avro"), (chunks, _) -> heard.add(chunks));

    assertThat(replayed.isCut()).isFalse();
    assertThat(ReportBuilder.of(replayed.state()).build().resultHash())
        .isEqualTo(ReportBuilder.of(States.of(fleet)).build().resultHash());
    long chunks = fleet.stream().mapToLong(core -> core.chunks().size()).sum();
    assertThat(heard).hasSize((int) chunks).last().isEqualTo(chunks);
  }

  @Test
  void aFileCutOffGivesWhatStandsBeforeTheCutAndSaysSo() throws IOException {
    byte[] bytes = Files.readAllBytes(write("whole.avro"));
    Path cut = dir.resolve("cut.avro");
    Files.write(cut, Arrays.copyOf(bytes, bytes.length * 2 / 3));

    TraceReplay.Replayed replayed = TraceReplay.read(cut, TraceReplay.Progress.SILENT);

    assertThat(replayed.notice()).contains("cut.avro").contains("cut off");
    assertThat(ReportBuilder.of(replayed.state()).build().records()).isPositive();
    assertThat(ReportBuilder.of(replayed.state()).build().stats())
        .extracting(StatRow::name)
        .contains("CUT_TRACES");
  }

  @Test
  void aChangedFileGivesNothing() throws IOException {
    Path file = write("changed.avro");
    byte[] bytes = Files.readAllBytes(file);
    bytes[bytes.length / 2] ^= 4;
    Files.write(file, bytes);

    assertThatThrownBy(() -> TraceReplay.read(file, TraceReplay.Progress.SILENT))
        .isInstanceOf(CorruptTraceException.class)
        .hasMessageContaining("changed.avro");
  }

  @Test
  void aFileWithAWrongIndexGivesWhatItsChunksGiveAndSaysSo() throws IOException {
    Path file = write("index.avro");
    byte[] bytes = Files.readAllBytes(file);
    int seal = 80; // at most, and the index stands before it
    bytes[bytes.length - seal - 40] ^= 4;
    Files.write(file, bytes);

    TraceReplay.Replayed replayed = TraceReplay.read(file, TraceReplay.Progress.SILENT);

    assertThat(replayed.isCut()).isFalse();
    assertThat(replayed.notice()).contains("index.avro").contains("its index is wrong");
    assertThat(ReportBuilder.of(replayed.state()).build().resultHash())
        .isEqualTo(ReportBuilder.of(States.of(fleet)).build().resultHash());
  }

  @Test
  void aChunkWithoutItsImageIsNamed() throws IOException {
    Path file = dir.resolve("no-image.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(fleet.getFirst().chunks().getFirst());
    }
    assertThatThrownBy(() -> TraceReplay.read(file, TraceReplay.Progress.SILENT))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageContaining("names image");
  }

  /** Many of one session and image: each is shown up to where it broke, the others are right. */
  @Test
  void coresThatBreakAreBrokenOffThere() throws IOException {
    List<CoreScript> bad = new ArrayList<>();
    List<CoreScript> good = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      bad.add(script("bad-" + i).enter("poison").tick(1).exit().chunk());
      good.add(script("bad-" + i));
      good.add(script("good-" + i).enter("leaf").tick(2).exit().chunk());
    }
    Path file = dir.resolve("broken.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(bad.getFirst().image());
      for (int i = 0; i < 20; i++) {
        for (CoreScript core : List.of(bad.get(i), good.get(2 * i + 1))) {
          for (Chunk chunk : core.chunks()) {
            writer.write(chunk);
          }
        }
      }
    }
    try (Breaking broken = Breaking.of(key -> key.core().startsWith("bad"), 0x401000 + 0x80)) {
      TraceReplay.Replayed replayed =
          TraceReplay.read(file, new GraphState(), 1, TraceReplay.Progress.SILENT);
      Report report = ReportBuilder.of(replayed.state()).build();
      Report expected = ReportBuilder.of(States.of(good)).build();
      assertThat(report.functions()).isEqualTo(expected.functions());
      assertThat(report.edges()).isEqualTo(expected.edges());
      assertThat(report.completeness()).isLessThan(100);
      assertThat(report.cores())
          .filteredOn(core -> core.end() == CoreEnd.BROKEN)
          .hasSize(20)
          .allSatisfy(core -> assertThat(core.endDetail()).contains("chunk 1 of core bad-"));
      assertThat(broken.thrown()).isEqualTo(21); // two passes, whatever the number of cores
      TraceReplay.Replayed parallel =
          TraceReplay.read(file, new GraphState(), 3, TraceReplay.Progress.SILENT);
      Report inThreads = ReportBuilder.of(parallel.state()).build();
      assertThat(inThreads.functions()).isEqualTo(report.functions());
      assertThat(inThreads.stats()).isEqualTo(report.stats());
    }
  }

  private static CoreScript script(String name) {
    CoreScript core = new CoreScript(CoreScript.image("p", "main", "leaf", "poison"), "s", name);
    return core.enter("main").tick(2).enter("leaf").tick(3).exit().chunk();
  }

  private Path write(String name) throws IOException {
    Path file = dir.resolve(name);
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      for (CoreScript core : fleet) {
        writer.write(core.image());
      }
      for (CoreScript core : fleet) {
        for (Chunk chunk : core.chunks()) {
          writer.write(chunk);
        }
      }
    }
    return file;
  }
}
