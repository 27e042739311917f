package dev.retstack.fleet.isolate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.CoreEnding;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.record.RecordBatch;
import java.io.StreamCorruptedException;
import java.util.List;
import java.util.TreeMap;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;

/** A child is not believed: what it sends must be the next chunk of its own core. */
class CoreStreamTest {
  private final LoadedImage image = Zoo.images().getFirst();
  private final CoreStream stream =
      CoreStream.first(
          new CoreSpec("core", image, CoreOptions.of(LinuxOptions.of("p"))), "session");

  private Chunk chunk(long sequence, long before, UnaryOperator<Chunk.Builder> change) {
    RecordBatch batch = new RecordBatch(1);
    batch.add(RecordBatch.ENTRY, 10 + sequence, 0, 1, 2, 3, 4);
    Chunk.Builder chunk =
        Chunk.newBuilder()
            .setSession("session")
            .setCore("core")
            .setIsa(image.isa().name())
            .setImage(image.elf().buildId())
            .setSequence(sequence)
            .setClockUnit(ClockUnit.INSTRUCTIONS)
            .setRecordsBefore(before);
    return Chunks.seal(change.apply(chunk), Codecs.standard(), batch);
  }

  private void refuses(String what, UnaryOperator<Chunk.Builder> change) {
    assertThatThrownBy(() -> stream.check(chunk(1, 1, change)))
        .isInstanceOf(StreamCorruptedException.class)
        .hasMessageContaining(what);
  }

  private static Chunk.Builder same(Chunk.Builder chunk) {
    return chunk;
  }

  @Test
  void onlyTheNextChunkOfThisCoreIsTaken() throws Exception {
    Chunk first = chunk(0, 0, CoreStreamTest::same);
    stream.check(first);
    stream.noteTaken(first);
    stream.check(chunk(1, 1, CoreStreamTest::same));
    refuses("core expected core, received other", chunk -> chunk.setCore("other"));
    refuses("session", chunk -> chunk.setSession("another"));
    refuses("image", chunk -> chunk.setImage("abcd"));
    refuses("isa", chunk -> chunk.setIsa("z80"));
    refuses("clock unit", chunk -> chunk.setClockUnit(ClockUnit.NANOSECONDS));
    refuses("sequence expected 1, received 2", chunk -> chunk.setSequence(2));
    refuses("records before expected 1, received 0", chunk -> chunk.setRecordsBefore(0));
    refuses("first time 9 is before 10", chunk -> chunk.setFirstTime(9));
    Chunk changed = chunk(1, 1, CoreStreamTest::same);
    changed.setChecksum(changed.getChecksum() + 1);
    assertThatThrownBy(() -> stream.check(changed)).isInstanceOf(StreamCorruptedException.class);
  }

  @Test
  void theLastWordInventsNothing() throws Exception {
    Chunk first = chunk(0, 0, CoreStreamTest::same);
    stream.check(first);
    stream.noteTaken(first);
    Chunk last = stream.lastChunk(CoreEnd.FAULTED, "why");
    stream.check(last);
    assertThat(last.getRecordCount()).isZero();
    assertThat(last.getSequence()).isEqualTo(1);
    assertThat(last.getRecordsBefore()).isEqualTo(1);
    assertThat(last.getLastTime()).isEqualTo(10);
    stream.noteTaken(last);
    refuses("last chunk expected false, received true", chunk -> chunk.setSequence(2));
    stream.close(CoreEnd.FAULTED, "why");
    assertThat(stream.result().ending().detail()).isEqualTo("why");
    assertThat(stream.result().records()).isEqualTo(1);
  }

  @Test
  void anEndWithoutALastChunkIsNotBelieved() {
    CoreResult told =
        new CoreResult(
            "core",
            new CoreEnding(CoreEnd.HALTED, 0, ""),
            1,
            1,
            0,
            0,
            List.of(),
            0,
            new TreeMap<>(),
            List.of(),
            "");
    assertThatThrownBy(() -> stream.close(told)).isInstanceOf(StreamCorruptedException.class);
  }

  @Test
  void wordsOfAChildReachTheTerminalWithoutControls() {
    assertThat(LastWords.printable("a\u001b[31mb")).isEqualTo("a\uFFFD[31mb");
  }
}
