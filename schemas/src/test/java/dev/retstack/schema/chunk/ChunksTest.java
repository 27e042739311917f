package dev.retstack.schema.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Samples;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordsCodec;
import dev.retstack.schema.record.Keyframe;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskName;
import dev.retstack.testing.Seeds;
import java.util.Collections;
import java.util.List;
import java.util.SplittableRandom;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;

/** Each limit of a chunk, broken alone under a right checksum. */
class ChunksTest {
  @Test
  void namesWhatIsOutOfLimits() {
    refused(c -> c.setRecordCount(-1), "recordCount -1 is outside 0 to 131072");
    refused(c -> c.setRecordCount(Chunks.RECORDS_MAX + 1), "recordCount 131073 is outside");
    refused(c -> c.setRecordCount(3), "payload ends at byte 1 inside a record");
    refused(c -> c.setSequence(-1), "sequence -1 is outside");
    refused(c -> c.setRecordsBefore(-1), "recordsBefore -1 is outside");
    refused(c -> c.setLostBefore(-1), "lostBefore -1 is outside");
    refused(c -> c.setOverruns(-1), "overruns -1 is outside");
    refused(c -> c.setUnhijackable(-1), "unhijackable -1 is outside");
    refused(c -> c.setAbandoned(-1), "abandoned -1 is outside");
    refused(c -> c.setFirstTime(8), "firstTime 8 is after lastTime 7");
    refused(c -> c.setEnd(CoreEnd.UNKNOWN), "end is not known to this version");
    refused(c -> c.setCodec("zip"), "unknown codec 'zip'");
  }

  @Test
  void namesWhatIsWrongInTheRecords() {
    refused(record(RecordBatch.ENTRY, 5, -1, 1), "record 0 has depth -1, outside 0 to 1048575");
    refused(record(RecordBatch.ENTRY, 5, 1 << 20, 1), "record 0 has depth 1048576");
    refused(record(RecordBatch.LOST, 5, 0, 0), "record 0 says that 0 records are lost");
    RecordBatch backwards = record(RecordBatch.ENTRY, 5, 0, 1);
    backwards.add(RecordBatch.EXIT, 4, 0, 1, 2, 3, 4);
    backwards.add(RecordBatch.EXIT, 5, 0, 1, 2, 3, 4);
    refused(backwards, "record 1 has time 4, before 5");
    Chunk late = Samples.chunk("core-0", 0, new RecordsCodec(), record(RecordBatch.ENTRY, 5, 0, 1));
    late.setFirstTime(4L);
    late.setLastTime(4L);
    refused(late, "last record has time 5, after lastTime 4");
    Chunk early =
        Samples.chunk("core-0", 0, new RecordsCodec(), record(RecordBatch.ENTRY, 5, 0, 1));
    early.setFirstTime(6L);
    early.setLastTime(6L);
    refused(early, "record 0 has time 5, before 6");
  }

  @Test
  void aKeyframeComesBackAsItWas() throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("aKeyframeComesBackAsItWas"));
    for (String id : Codecs.ids()) {
      RecordBatch batch = Samples.callTree(random, 300, 5);
      assertThat(decoded(id, batch).keyframe()).isNull();
      Keyframe keyframe = Samples.keyframe(random, batch.time[0], false);
      batch.setKeyframe(keyframe);
      Keyframe back = decoded(id, batch).keyframe();
      assertThat(back.records()).isEqualTo(keyframe.records());
      int interrupt = back.end(0);
      assertThat(back.open(0)).isEqualTo(2);
      assertThat(back.shown(0)).isEqualTo(3);
      assertThat(back.leftOut(0)).isZero();
      assertThat(interrupt).isEqualTo(3);
      int last = back.end(interrupt);
      assertThat(back.end(last)).isEqualTo(back.records().size());
      assertThat(back.leftOut(last)).isEqualTo(back.records().depth[last + 1]);
    }
  }

  @Test
  void mappingsComeBackWithTheirImages() throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("mappingsComeBack"));
    for (String id : Codecs.ids()) {
      RecordBatch batch = Samples.withOthers(Samples.callTree(random, 300, 5), random, 5);
      for (boolean alone : new boolean[] {true, false}) {
        Keyframe keyframe = Samples.mapped(Samples.keyframe(random, batch.time[0], alone));
        batch.setKeyframe(keyframe);
        RecordBatch back = decoded(id, batch);
        assertThat(back).isEqualTo(batch);
        assertThat(back.images()).isEqualTo(batch.images());
        assertThat(back.keyframe().maps()).isEqualTo(keyframe.maps());
        assertThat(back.keyframe().records()).isEqualTo(keyframe.records());
      }
    }
  }

  @Test
  void namesWhatIsWrongInMappings() {
    refusedMap(m -> m.depth[1] = 2, "keyframe: record 1 maps image 2 of 2");
    refusedMap(m -> m.fromPc[0] = 0, "keyframe: record 0 maps 0 bytes at 7f0000000000");
    refusedMap(m -> m.fromPc[0] = -1, "keyframe: record 0 maps -1 bytes at 7f0000000000");
    refusedMap(m -> m.selfPc[1] = -0x10, "keyframe: record 1 maps 4096 bytes at fffffffffffffff0");
    refusedMap(m -> m.selfPc[1] -= 1, "keyframe: mapping 1 overlaps the one before");
    refusedMap(m -> m.selfPc[1] = 0, "keyframe: mapping 1 overlaps the one before");
    refusedMap(m -> m.time[1] = 3, "keyframe: a mapping in force has time 3");
    RecordBatch batch = new RecordBatch(1);
    batch.setImages(List.of("a1b2c3d4"));
    batch.add(RecordBatch.MAP, 50, 1, 0x1000, 0x1000, 0, 5);
    refused(batch, "record 0 maps image 1 of 1");
    RecordBatch unmap = record(RecordBatch.UNMAP, 50, 0, -2);
    unmap.fromPc[0] = 3;
    refused(unmap, "record 0 maps 3 bytes at fffffffffffffffe");
    refused(
        chunk -> chunk.setImages(Collections.nCopies(Chunks.IMAGES_MAX + 1, "a1b2c3d4")),
        "images 1025 is outside 0 to 1024");
    refused(
        chunk -> chunk.setImages(List.of("a".repeat(Chunks.NAME_MAX + 1))),
        "characters in an image 1025 is outside");
  }

  @Test
  void namesOfTasksComeBack() throws CorruptChunkException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh("namesOfTasksComeBack"));
    for (String id : Codecs.ids()) {
      RecordBatch batch = Samples.withOthers(Samples.callTree(random, 300, 5), random, 5);
      for (boolean alone : new boolean[] {true, false}) {
        Keyframe keyframe = Samples.named(Samples.keyframe(random, batch.time[0], alone));
        keyframe = random.nextBoolean() ? Samples.mapped(keyframe) : keyframe;
        batch.setKeyframe(keyframe);
        Keyframe back = decoded(id, batch).keyframe();
        assertThat(back.maps()).isEqualTo(keyframe.maps());
        assertThat(back.names()).isEqualTo(keyframe.names());
        assertThat(back.records()).isEqualTo(keyframe.records());
        assertThat(TaskName.of(back.names(), 0).text()).isEqualTo("main");
        assertThat(TaskName.of(back.names(), 1).text()).isEqualTo("worker of the 16");
      }
    }
  }

  @Test
  void saysWhatIsWrongInNamesOfTasks() {
    refusedName(n -> n.time[1] = 3, "keyframe: the name of a task has time 3");
    refusedName(n -> n.selfPc[1] = 0, "keyframe: the name of task 0 comes behind that of task 0");
    refusedName(n -> n.selfPc[0] = 8, "keyframe: the name of task 7 comes behind that of task 8");
  }

  private static void refusedName(Consumer<RecordBatch> change, String why) {
    RecordBatch batch = record(RecordBatch.ENTRY, 50, 0, 1);
    Keyframe keyframe = Samples.named(Samples.keyframe(new SplittableRandom(1), 50, true));
    change.accept(keyframe.names());
    batch.setKeyframe(keyframe);
    refused(Samples.chunk("core-0", 0, Codecs.standard(), batch), why);
  }

  private static void refusedMap(Consumer<RecordBatch> change, String why) {
    SplittableRandom random = new SplittableRandom(1);
    RecordBatch batch = Samples.withOthers(Samples.callTree(random, 5, 3), random, 1);
    Keyframe keyframe = Samples.mapped(Samples.keyframe(random, batch.time[0], true));
    change.accept(keyframe.maps());
    batch.setKeyframe(keyframe);
    refused(Samples.chunk("core-0", 0, Codecs.standard(), batch), why);
  }

  /** A core of one stack pays for its frames alone. */
  @Test
  void aKeyframeOfOneStackHasNoHeadInAChunk() throws CorruptChunkException {
    for (String id : Codecs.ids()) {
      for (Keyframe keyframe : List.of(frames(1, 20, 30), empty())) {
        RecordBatch batch = record(RecordBatch.ENTRY, 50, 2, 1);
        batch.setKeyframe(keyframe);
        Chunk chunk = Samples.chunk("core-0", 0, Codecs.byId(id), batch);
        assertThat(chunk.getKeyframeRecords()).isEqualTo(keyframe.records().size() - 1);
        assertThat(Chunks.decode(chunk).keyframe().records()).isEqualTo(keyframe.records());
      }
    }
  }

  private static RecordBatch decoded(String codec, RecordBatch batch) throws CorruptChunkException {
    return Chunks.decode(Samples.chunk("core-0", 0, Codecs.byId(codec), batch));
  }

  @Test
  void namesWhatIsWrongInAKeyframe() {
    refusedKeyframe(
        k -> k.kind[0] = RecordBatch.INTERRUPT_ENTER, "keyframe: it does not begin with a task");
    refusedKeyframe(k -> k.kind[0] = RecordBatch.ENTRY, "keyframe: frame 2 has depth 0");
    refusedKeyframe(k -> k.kind[1] = RecordBatch.EXIT, "keyframe: record 1 is of kind 1");
    refusedKeyframe(k -> k.time[1] = 51, "keyframe: record 1 has time 51, outside 0 to 50");
    refusedKeyframe(k -> k.time[1] = -1, "keyframe: record 1 has time -1, outside 0 to 50");
    refusedKeyframe(k -> k.time[2] = 10, "keyframe: frame 2 was entered before its caller");
    refusedKeyframe(k -> k.retP[0] = 3, "keyframe: stack 0 has 3 frames of 2");
    refusedKeyframe(k -> k.retP[0] = -1, "keyframe: stack 0 has -1 frames of 2");
    refusedKeyframe(k -> k.depth[0] = (1 << 20) + 1, "keyframe: stack 0 has 2 frames of 1048577");
    refusedKeyframe(k -> k.depth[1] = 5, "keyframe: frame 2 has depth 1");
    refusedKeyframe(k -> k.depth[2] = 2, "keyframe: frame 2 has depth 2");
    refusedKeyframe(k -> k.retP[0] = 1, "keyframe: frame 2 has depth 1");
    refusedKeyframe(k -> k.selfPc[0] = 3, "keyframe: it ends in task 3 and 0 interrupts");
    Keyframe.Builder deep = new Keyframe.Builder();
    deep.task(0, 1025, 1025);
    for (int depth = 0; depth <= Keyframe.FRAMES_MOST; depth++) {
      deep.frame(depth, 1, 1, 2, 3, 4);
    }
    refused(withKeyframe(deep.build()), "keyframe: a stack has more than 1,024 frames");
    Keyframe.Builder wide = new Keyframe.Builder();
    for (int task = 0; task < Keyframe.STACKS_MOST; task++) {
      wide.task(0, 0, 0);
    }
    assertThat(wide.build()).isNotNull();
    wide.task(0, 0, 0);
    assertThat(wide.build()).isNull();
  }

  @Test
  void namesAKeyframeThatIsTooLongOrNotThere() {
    Chunk chunk = withKeyframe(frames(1, 20, 30));
    chunk.setKeyframeRecords(Keyframe.RECORDS_MOST + 1);
    refused(chunk, "keyframeRecords 24577 is outside 0 to 24576");
    chunk.setKeyframeRecords(Chunks.NO_KEYFRAME);
    refused(chunk, "keyframe bytes %d is outside 0 to 0".formatted(chunk.getKeyframe().limit()));
    chunk.setKeyframeRecords(-2);
    refused(chunk, "keyframeRecords -2 is outside");
  }

  private static Keyframe frames(long... times) {
    Keyframe.Builder to = new Keyframe.Builder();
    to.last();
    to.task(0, 2, 2);
    to.frame(0, times[1], 0x400000, 0x400100, 0x7000, 0x7010);
    to.frame(1, times[2], 0x400100, 0x400200, 0x6000, 0x6010);
    return to.build();
  }

  private static Keyframe empty() {
    Keyframe.Builder to = new Keyframe.Builder();
    to.task(0, 0, 0);
    return to.build();
  }

  private static Chunk withKeyframe(Keyframe keyframe) {
    RecordBatch batch = record(RecordBatch.ENTRY, 50, 2, 1);
    batch.setKeyframe(keyframe);
    return Samples.chunk("core-0", 0, Codecs.standard(), batch);
  }

  private static void refusedKeyframe(Consumer<RecordBatch> change, String why) {
    Keyframe keyframe = frames(1, 20, 30);
    change.accept(keyframe.records());
    refused(withKeyframe(keyframe), why);
  }

  @Test
  void namesBothChecksums() {
    Chunk chunk = Samples.lastChunk("core-0", 0, Codecs.standard(), 7);
    long right = chunk.getChecksum();
    chunk.setChecksum(right ^ 1);
    assertThatThrownBy(() -> ChunkChecksum.verify(chunk))
        .isInstanceOf(CorruptChunkException.class)
        .hasMessage(
            "checksum of chunk 0 of core core-0: expected %08x, received %08x", right, right ^ 1);
  }

  @Test
  void reusesABatchThatIsLargeEnough() throws CorruptChunkException {
    RecordBatch batch = record(RecordBatch.ENTRY, 5, 0, 1);
    Chunk chunk = Samples.chunk("core-0", 0, Codecs.standard(), batch);
    RecordBatch large = new RecordBatch(10);
    assertThat(Chunks.decode(chunk, large)).isSameAs(large).isEqualTo(batch);
    assertThat(Chunks.decode(chunk, new RecordBatch(0))).isEqualTo(batch);
  }

  private static RecordBatch record(byte kind, long time, int depth, long selfPc) {
    RecordBatch batch = new RecordBatch(3);
    batch.add(kind, time, depth, selfPc, 2, 3, 4);
    return batch;
  }

  private static void refused(RecordBatch batch, String why) {
    refused(Samples.chunk("core-0", 0, Codecs.standard(), batch), why);
  }

  private static void refused(Consumer<Chunk> change, String why) {
    Chunk chunk = Samples.lastChunk("core-0", 0, Codecs.standard(), 7);
    change.accept(chunk);
    refused(chunk, why);
  }

  private static void refused(Chunk chunk, String why) {
    Chunk sealed = Chunks.seal(chunk);
    assertThatThrownBy(() -> Chunks.decode(sealed, new RecordBatch(10)))
        .isInstanceOf(CorruptChunkException.class)
        .hasMessageContaining(why);
  }
}
