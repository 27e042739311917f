package dev.retstack.service.replay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.report.StatRow;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.file.CorruptTraceException;
import dev.retstack.schema.file.TraceFileWriter;
import dev.retstack.service.support.CoreScript;
import dev.retstack.service.support.RandomFleet;
import dev.retstack.service.support.States;
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

    assertThat(replayed.truncated()).isFalse();
    assertThat(replayed.state().report().resultHash())
        .isEqualTo(States.of(fleet).report().resultHash());
    long chunks = fleet.stream().mapToLong(core -> core.chunks().size()).sum();
    assertThat(heard).hasSize((int) chunks).last().isEqualTo(chunks);
  }

  @Test
  void aFileCutOffGivesWhatStandsBeforeTheCutAndSaysSo() throws IOException {
    byte[] bytes = Files.readAllBytes(write("whole.avro"));
    Path cut = dir.resolve("cut.avro");
    Files.write(cut, Arrays.copyOf(bytes, bytes.length * 2 / 3));

    TraceReplay.Replayed replayed = TraceReplay.read(cut, TraceReplay.Progress.SILENT);

    assertThat(replayed.truncation()).contains("cut.avro").contains("cut off");
    assertThat(replayed.state().report().records()).isPositive();
    assertThat(replayed.state().report().stats()).extracting(StatRow::name).contains("CUT_TRACES");
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
  void aChunkWithoutItsImageIsNamed() throws IOException {
    Path file = dir.resolve("no-image.avro");
    try (TraceFileWriter writer = TraceFileWriter.open(file)) {
      writer.write(fleet.getFirst().chunks().getFirst());
    }
    assertThatThrownBy(() -> TraceReplay.read(file, TraceReplay.Progress.SILENT))
        .isInstanceOf(InvalidTraceException.class)
        .hasMessageContaining("names image");
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
