package dev.retstack.schema.file;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Image;
import dev.retstack.schema.IndexBlock;
import dev.retstack.schema.IndexedCore;
import dev.retstack.schema.IndexedImage;
import dev.retstack.schema.IndexedRange;
import dev.retstack.schema.Mutations;
import dev.retstack.schema.Samples;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.TraceSeal;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.file.TraceIndex.Core;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.SplittableRandom;
import java.util.zip.CRC32C;
import org.apache.avro.io.DecoderFactory;
import org.apache.avro.specific.SpecificDatumReader;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * What the index finds is what a reading of all finds; a wrong index is noticed and changes no
 * answer.
 *
 * <p>{@code -Dretstack.mutants=N} changes so many files, and asks of a hundredth as many traces.
 */
@Timeout(1200)
class IndexedTraceTest {
  private static final int MUTANTS = Integer.getInteger("retstack.mutants", 80);
  private static final int TRACES = Math.max(20, MUTANTS / 100);
  private static final int QUESTIONS = 4;
  private static final long MEMORY_BYTES_MAX = 64L << 20;

  @TempDir Path folder;

  /** A question: which chunks of a core have times in [from, to]. */
  private record Question(String session, String core, long from, long to) {
    /** The answer by looking at all. */
    List<Chunk> of(List<TraceEntry> entries) {
      return entries.stream()
          .map(TraceEntry::getChunk)
          .filter(chunk -> chunk != null && chunk.getSession().equals(session))
          .filter(chunk -> chunk.getCore().equals(core))
          .filter(chunk -> chunk.getFirstTime() <= to && chunk.getLastTime() >= from)
          .toList();
    }

    /** The chunks from the last keyframe on, by looking at all. */
    List<Chunk> fromKeyframe(List<TraceEntry> entries) {
      List<Chunk> all = new Question(session, core, Long.MIN_VALUE, Long.MAX_VALUE).of(entries);
      int begin = all.size() - 1;
      while (begin > 0
          && (all.get(begin).getKeyframeRecords() < 0 || all.get(begin).getFirstTime() > from)) {
        begin--;
      }
      return all.stream()
          .skip(Math.max(begin, 0))
          .filter(chunk -> chunk.getFirstTime() <= to)
          .toList();
    }

    List<Chunk> fromKeyframe(IndexedTrace trace) throws IOException {
      List<Chunk> chunks = new ArrayList<>();
      for (TraceIndex.Range at : trace.chunksFromKeyframe(session, core, from, to)) {
        chunks.add(trace.chunk(at));
      }
      return chunks;
    }

    List<Chunk> of(IndexedTrace trace) throws IOException {
      List<Chunk> chunks = new ArrayList<>();
      for (TraceIndex.Range at : trace.chunksOf(session, core, from, to)) {
        chunks.add(trace.chunk(at));
      }
      return chunks;
    }
  }

  @Test
  void answersAreThoseOfAFullReading() throws IOException {
    long seed = Seeds.fresh("answersAreThoseOfAFullReading");
    SplittableRandom random = new SplittableRandom(seed);
    for (int round = 0; round < TRACES; round++) {
      List<TraceEntry> entries = trace(random, random.nextInt(0, 150), random.nextInt(2) == 0);
      Path file = folder.resolve("trace.avro");
      Traces.write(file, entries);
      boolean thin = random.nextBoolean();
      if (thin) {
        // as a trace of many chunks has it: few ranges of many bytes, and cores without their own
        int coresMax = random.nextInt(0, 4);
        TraceIndex fewer = new TraceIndex(2 * coresMax + 2 + random.nextInt(0, 6), coresMax);
        Files.write(file, withIndex(Files.readAllBytes(file), indexed(file, fewer).toBlock()));
      }
      try (IndexedTrace trace = IndexedTrace.open(file)) {
        assertThat(trace.notice()).isEmpty();
        for (int i = 0; i < QUESTIONS; i++) {
          Question question = question(random, entries);
          assertThat(question.of(trace))
              .as("round %s, %s", round, question)
              .isEqualTo(question.of(entries));
          assertThat(question.fromKeyframe(trace))
              .as("round %s, %s", round, question)
              .isEqualTo(question.fromKeyframe(entries));
        }
        assertThat(thin || trace.notice().isEmpty()).as(trace.notice()).isTrue();
      }
    }
  }

  @Test
  void imagesAreFound() throws IOException {
    Image other = Samples.image();
    other.setBuildId("11");
    List<TraceEntry> entries = new ArrayList<>();
    for (Image image : List.of(Samples.image(), other, Samples.image())) {
      entries.add(new TraceEntry(image, null, null, null, null, null));
    }
    Path file = folder.resolve("trace.avro");
    Traces.write(file, entries);
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      assertThat(trace.image("11")).isEqualTo(other);
      assertThat(trace.image("00ff00ff")).isEqualTo(Samples.image());
      assertThat(trace.image("22")).isNull();
      assertThat(trace.index().cores()).isEmpty();
      assertThat(trace.notice()).isEmpty();
    }
  }

  /** Every byte from the last chunk on, and some before: what stands before the cut is found. */
  @Test
  void aCutFileHasAnIndexOfWhatIsLeft() throws IOException {
    long seed = Seeds.fresh("aCutFileHasAnIndexOfWhatIsLeft");
    SplittableRandom random = new SplittableRandom(seed);
    Path file = folder.resolve("trace.avro");
    Traces.write(file, trace(random, 30, true));
    byte[] whole = Files.readAllBytes(file);
    int tail = (int) indexed(file, new TraceIndex()).end() - 100;
    for (int cut = 0; cut < whole.length; cut += cut < tail ? random.nextInt(1, 1000) : 1) {
      Files.write(file, Arrays.copyOf(whole, cut));
      try (TraceFileReader all = TraceFileReader.open(file);
          IndexedTrace trace = IndexedTrace.open(file)) {
        List<TraceEntry> left = Traces.rest(all);
        assertThat(trace.notice()).contains("was cut off at byte " + cut).isEqualTo(all.notice());
        Question question = question(random, left);
        assertThat(question.of(trace)).isEqualTo(question.of(left));
      }
    }
  }

  @Test
  void theIndexOfAnotherFileIsNoticed() throws IOException {
    SplittableRandom random = new SplittableRandom(5);
    Path file = folder.resolve("trace.avro");
    Traces.write(file, trace(random, 40, true));
    IndexBlock other = indexed(file, new TraceIndex()).toBlock();
    List<TraceEntry> entries = trace(random, 40, true);
    Traces.write(file, entries);
    Files.write(file, withIndex(Files.readAllBytes(file), other));
    assertNoticed(file, entries, random);
  }

  /** A checksum that does not hold, and nothing else. */
  @Test
  void aWrongChecksumIsNoticed() throws IOException {
    SplittableRandom random = new SplittableRandom(6);
    Path file = folder.resolve("trace.avro");
    List<TraceEntry> entries = trace(random, 10, true);
    Traces.write(file, entries);
    byte[] bytes = Files.readAllBytes(file);
    IndexBlock right = indexed(file, new TraceIndex()).toBlock();
    Files.write(file, withIndex(bytes, Traces.encoded(right), 1));
    assertNoticed(file, entries, random);
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      assertThat(trace.notice())
          .contains("its index is wrong, only the chunks themselves are believed")
          .contains("it was changed after it was written");
    }
  }

  /** Fields changed, or the bytes of the index, behind checksums that hold. */
  @Test
  void noWrongIndexIsBelieved() throws IOException {
    long seed = Seeds.fresh("noWrongIndexIsBelieved");
    SplittableRandom random = new SplittableRandom(seed);
    Path file = folder.resolve("trace.avro");
    List<TraceEntry> entries = trace(random, 24, true);
    Traces.write(file, entries);
    byte[] bytes = Files.readAllBytes(file);
    IndexBlock right = indexed(file, new TraceIndex()).toBlock();
    byte[] rightBytes = Traces.encoded(right);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    int late = 0;
    // some are wrong in what only the chunks show: the test of what is read is worth something
    for (int round = 0; round < MUTANTS / 2 || late == 0; round++) {
      byte[] wrong;
      if (random.nextInt(4) == 0) {
        wrong = Mutations.of(rightBytes, random);
      } else {
        IndexBlock block = decoded(rightBytes);
        do {
          mutate(block, random);
        } while (block.equals(right) || random.nextInt(4) == 0);
        wrong = Traces.encoded(block);
      }
      Files.write(file, withIndex(bytes, wrong, 0));
      long before = threads.getCurrentThreadAllocatedBytes();
      late += assertNoticed(file, entries, random) ? 1 : 0;
      assertThat(threads.getCurrentThreadAllocatedBytes() - before)
          .as("round %s", round)
          .isLessThan(MEMORY_BYTES_MAX);
    }
  }

  /** All numbers are right: who asks for the cores would ask for one that is not there. */
  @Test
  void aWrongNameIsNoticedBeforeItIsAskedFor() throws IOException {
    long seed = Seeds.fresh("aWrongNameIsNoticedBeforeItIsAskedFor");
    SplittableRandom random = new SplittableRandom(seed);
    Path file = folder.resolve("trace.avro");
    Traces.write(file, trace(random, 40, true));
    byte[] bytes = Files.readAllBytes(file);
    TraceIndex right = indexed(file, new TraceIndex());
    for (int at = 0; at < right.cores().size(); at++) {
      IndexBlock block = decoded(Traces.encoded(right.toBlock()));
      IndexedCore core = block.getCores().get(at);
      if (random.nextBoolean()) {
        core.setCore(core.getCore() + "x");
      } else {
        core.setSession("x" + core.getSession());
      }
      Files.write(file, withIndex(bytes, block));
      try (IndexedTrace trace = IndexedTrace.open(file)) {
        assertThat(trace.index().cores()).isEqualTo(right.cores());
        assertThat(trace.isIndexed()).isFalse();
        assertThat(trace.notice()).contains("its index is wrong");
      }
    }
  }

  /** Each range in turn, while another core's range claims its chunks: all counts are right. */
  @Test
  void aRangeThatIsLeftOutIsNoticed() throws IOException {
    long seed = Seeds.fresh("aRangeThatIsLeftOutIsNoticed");
    SplittableRandom random = new SplittableRandom(seed);
    Path file = folder.resolve("trace.avro");
    List<TraceEntry> entries;
    IndexBlock right;
    do {
      entries = trace(random, 40, true);
      Traces.write(file, entries);
      right = indexed(file, new TraceIndex()).toBlock();
    } while (right.getCores().size() < 2 || right.getCores().getFirst().getRanges().size() < 4);
    byte[] bytes = Files.readAllBytes(file);
    IndexedCore core = right.getCores().getFirst();
    TraceIndex.Core key = new Core(core.getSession(), core.getCore());
    List<TraceIndex.Range> ranges = indexed(file, new TraceIndex()).rangesOf(key);
    for (int at = 0; at < ranges.size(); at++) {
      IndexBlock block = decoded(Traces.encoded(right));
      leaveOut(block.getCores().get(0).getRanges(), at);
      List<IndexedRange> others = block.getCores().get(1).getRanges();
      IndexedRange liar = others.get(others.size() - 1);
      liar.setChunks(liar.getChunks() + ranges.get(at).chunks());
      liar.setBytes(liar.getBytes() + ranges.get(at).bytes());
      Files.write(file, withIndex(bytes, block));
      try (IndexedTrace trace = IndexedTrace.open(file)) {
        Question question =
            new Question(
                key.session(), key.core(), ranges.get(at).firstTime(), ranges.get(at).lastTime());
        assertThat(question.of(trace)).as("range %s", at).isEqualTo(question.of(entries));
        assertThat(trace.notice()).as("range %s", at).contains("its index is wrong");
      }
    }
  }

  /** The core in turn whose chunks other entries claim, each those that follow it in the file. */
  @Test
  void aCoreThatIsLeftOutIsNoticed() throws IOException {
    long seed = Seeds.fresh("aCoreThatIsLeftOutIsNoticed");
    SplittableRandom random = new SplittableRandom(seed);
    Path file = folder.resolve("trace.avro");
    int late = 0;
    for (int round = 0; round < TRACES; round++) {
      Traces.write(file, trace(random, 40, true));
      byte[] bytes = Files.readAllBytes(file);
      TraceIndex right = indexed(file, new TraceIndex());
      for (int which = 0; which < right.cores().size(); which++) {
        IndexBlock block = decoded(Traces.encoded(right.toBlock()));
        block.getCores().remove(which);
        Core out = List.copyOf(right.cores()).get(which);
        for (TraceIndex.Range range : right.rangesOf(out)) {
          claim(block, right, range, random.nextInt(4) > 0);
        }
        Files.write(file, withIndex(bytes, block));
        try (IndexedTrace trace = IndexedTrace.open(file)) {
          late += trace.notice().isEmpty() ? 1 : 0;
          for (Core core : List.copyOf(trace.index().cores())) {
            for (TraceIndex.Range range : right.rangesOf(out)) {
              var _ =
                  trace.chunksFromKeyframe(
                      core.session(), core.core(), range.firstTime(), range.lastTime());
            }
            var _ = trace.chunksOf(core.session(), core.core(), Long.MIN_VALUE, Long.MAX_VALUE);
          }
          assertThat(trace.notice()).as("core %s of %s", out, right.cores()).contains("is wrong");
          assertThat(trace.index().cores()).isEqualTo(right.cores());
        }
      }
    }
    assertThat(late).isPositive();
  }

  /** Who begins before it, or any, claims a range. */
  private static void claim(
      IndexBlock block, TraceIndex right, TraceIndex.Range range, boolean near) {
    long best = -1;
    IndexedRange liar = null;
    for (IndexedCore core : block.getCores()) {
      List<TraceIndex.Range> of = right.rangesOf(new Core(core.getSession(), core.getCore()));
      for (int i = 0; i < of.size(); i++) {
        if (liar == null
            || (near && of.get(i).position() < range.position() && of.get(i).position() > best)) {
          best = of.get(i).position();
          liar = core.getRanges().get(i);
        }
      }
    }
    if (liar == null) {
      block.setOtherImages(block.getOtherImages() + range.chunks());
      return;
    }
    liar.setChunks(liar.getChunks() + range.chunks());
    liar.setBytes(liar.getBytes() + range.bytes());
  }

  private static void leaveOut(List<IndexedRange> ranges, int at) {
    IndexedRange out = ranges.remove(at);
    if (at < ranges.size()) {
      IndexedRange next = ranges.get(at);
      next.setPosition(next.getPosition() + out.getPosition());
      next.setSequence(next.getSequence() + out.getSequence() + out.getChunks());
      next.setRecordsBefore(next.getRecordsBefore() + out.getRecordsBefore() + out.getRecords());
      next.setFirstTime(next.getFirstTime() + out.getFirstTime() + out.getLastTime());
    }
  }

  /** Bytes of the file changed: what is found is what was written, or the file is refused. */
  @Test
  void noChangedFileGivesAnotherAnswer() throws IOException {
    long seed = Seeds.fresh("noChangedFileGivesAnotherAnswer");
    SplittableRandom random = new SplittableRandom(seed);
    Path file = folder.resolve("trace.avro");
    List<TraceEntry> entries = trace(random, 12, true);
    Traces.write(file, entries);
    byte[] bytes = Files.readAllBytes(file);
    int tail = (int) indexed(file, new TraceIndex()).end();
    int refused = 0;
    for (int round = 0; round < MUTANTS / 2; round++) {
      int from = random.nextBoolean() ? tail : 0;
      byte[] part = Mutations.of(Arrays.copyOfRange(bytes, from, bytes.length), random);
      Files.write(file, Mutations.splice(bytes, from, bytes.length - from, part));
      try (IndexedTrace trace = IndexedTrace.open(file)) {
        Question question = question(random, entries);
        List<Chunk> answer = question.of(trace);
        if (trace.notice().contains("was cut off")) {
          try (TraceFileReader all = TraceFileReader.open(file)) {
            assertThat(answer).isEqualTo(question.of(Traces.rest(all)));
          }
        } else {
          assertThat(answer).isEqualTo(question.of(entries));
        }
      } catch (CorruptTraceException e) {
        refused++;
      }
    }
    assertThat(refused).isPositive();
  }

  /** Nearly two million ranges in a few bytes. */
  @Test
  void aBombIsRefusedWithinMemory() throws IOException {
    SplittableRandom random = new SplittableRandom(8);
    Path file = folder.resolve("trace.avro");
    List<TraceEntry> entries = trace(random, 5, true);
    Traces.write(file, entries);
    IndexedRange range = new IndexedRange(0L, 1L, 1L, 0L, 0L, 0L, 0L, 0L, false);
    IndexBlock bomb =
        new IndexBlock(4096L, List.of(), 0L, List.of(), Collections.nCopies(1_800_000, range));
    Files.write(file, withIndex(Files.readAllBytes(file), bomb));
    assertThat(Files.size(file)).isLessThan(100_000);
    assertNoticed(file, entries, random);
    ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
    long before = threads.getCurrentThreadAllocatedBytes();
    try (TraceFileReader all = TraceFileReader.open(file)) {
      assertThat(Traces.rest(all)).isEqualTo(entries);
      assertThat(all.notice()).contains("more than 64 MiB of objects");
    }
    assertThat(threads.getCurrentThreadAllocatedBytes() - before).isLessThan(MEMORY_BYTES_MAX);
  }

  /** A million chunks of 20,000 cores: thinned out, readable, and no chunk is left out. */
  @Test
  void theIndexIsBounded() throws Exception {
    SplittableRandom random = new SplittableRandom(9);
    TraceIndex index = new TraceIndex();
    String session = "s".repeat(60);
    Chunk chunk = Samples.lastChunk("core", 0, Codecs.standard(), 0);
    chunk.setSession(session);
    long first = 10_000;
    long position = first;
    int cores = 20_000;
    int chunks = 1_000_000;
    for (int i = 0; i < chunks; i++) {
      int core = i < cores ? i : (int) (cores * Math.pow(random.nextDouble(), 4));
      chunk.setCore("core-" + core);
      chunk.setFirstTime((long) i);
      chunk.setLastTime((long) i);
      long end = position + random.nextInt(300, 60_000);
      index.add(chunk, position, end);
      position = end;
    }
    IndexBlock block = index.toBlock();
    assertThat(block.getCores()).hasSize(TraceIndex.CORES_MAX);
    assertThat(index.hasOthers()).isTrue();
    TraceIndex read = TraceIndex.of(decoded(Traces.encoded(block)), first, position, chunks);
    assertThat(read.toBlock()).isEqualTo(block);
    assertThat(read.difference(block)).isEmpty();
    int ranges = block.getOthers().size();
    for (IndexedCore core : block.getCores()) {
      ranges += core.getRanges().size();
    }
    assertThat(ranges).isBetween(TraceIndex.RANGES_MAX / 4, TraceIndex.RANGES_MAX);
    byte[] entry = Traces.encoded(block);
    assertThat(entry).hasSizeLessThan(TraceFormat.ENTRY_BYTES_MAX);
    System.out.printf("theIndexIsBounded: %d ranges in %d bytes%n", ranges, entry.length);
  }

  @Test
  void aPlaceOfAnotherChunkIsRefused() throws IOException {
    Path file = folder.resolve("trace.avro");
    Traces.write(file, trace(new SplittableRandom(10), 10, true));
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      TraceIndex.Core core = trace.index().cores().iterator().next();
      TraceIndex.Range at =
          trace.chunksOf(core.session(), core.core(), Long.MIN_VALUE, Long.MAX_VALUE).getFirst();
      TraceIndex.Range other = at.and(at);
      assertThatThrownBy(() -> trace.chunk(other))
          .isInstanceOf(CorruptTraceException.class)
          .hasMessageContaining("changed while it was read");
    }
  }

  /**
   * A trace with a wrong index gives every answer it should, and whoever reads all hears of it.
   *
   * @return whether only an answer showed it
   */
  private static boolean assertNoticed(Path file, List<TraceEntry> entries, SplittableRandom random)
      throws IOException {
    try (TraceFileReader all = TraceFileReader.open(file)) {
      assertThat(Traces.rest(all)).isEqualTo(entries);
      assertThat(all.truncated()).isFalse();
      assertThat(all.notice()).contains("its index is wrong");
    }
    try (IndexedTrace trace = IndexedTrace.open(file)) {
      boolean late = trace.notice().isEmpty();
      for (int i = 0; i < QUESTIONS; i++) {
        Question question = question(random, entries);
        assertThat(question.of(trace))
            .as("%s, %s", question, trace.notice())
            .isEqualTo(question.of(entries));
        assertThat(question.fromKeyframe(trace))
            .as("%s, %s", question, trace.notice())
            .isEqualTo(question.fromKeyframe(entries));
      }
      return late && !trace.notice().isEmpty();
    }
  }

  private static Question question(SplittableRandom random, List<TraceEntry> entries) {
    int at = entries.isEmpty() ? -1 : random.nextInt(entries.size());
    Chunk chunk = at < 0 ? null : entries.get(at).getChunk();
    if (chunk == null || random.nextInt(10) == 0) {
      return new Question("session-1", "core-none", Long.MIN_VALUE, Long.MAX_VALUE);
    }
    long from = chunk.getFirstTime() + random.nextLong(-2000, 2000);
    long to =
        switch (random.nextInt(3)) {
          case 0 -> from;
          case 1 -> from + random.nextLong(1, 3000);
          default -> Math.max(from, chunk.getLastTime());
        };
    return random.nextInt(8) == 0
        ? new Question(chunk.getSession(), chunk.getCore(), Long.MIN_VALUE, Long.MAX_VALUE)
        : new Question(chunk.getSession(), chunk.getCore(), from, to);
  }

  /** Chunks of some cores, as a fleet gives them, or repeated, missing and late, as a log may. */
  private static List<TraceEntry> trace(SplittableRandom random, int chunks, boolean inOrder) {
    int cores = random.nextInt(1, 5);
    long[] clock = new long[cores];
    long[] sequence = new long[cores];
    long[] records = new long[cores];
    Arrays.setAll(clock, core -> random.nextLong(-5000, 5000));
    List<TraceEntry> entries = new ArrayList<>();
    entries.add(new TraceEntry(Samples.image(), null, null, null, null, null));
    for (int i = 0; i < chunks; i++) {
      int core = random.nextInt(cores);
      RecordBatch batch = Samples.callTree(random, random.nextInt(1, 400), 20);
      long shift = clock[core] - batch.time[0];
      for (int record = 0; record < batch.size(); record++) {
        batch.time[record] += shift;
      }
      clock[core] = batch.time[batch.size() - 1] + random.nextInt(0, 1000);
      if (random.nextBoolean()) {
        batch.setKeyframe(Samples.keyframe(random, batch.time[0], true));
      }
      Chunk chunk = Samples.chunk("core-" + core, sequence[core]++, Codecs.standard(), batch);
      chunk.setSession("session-" + core % 2);
      chunk.setRecordsBefore(records[core]);
      records[core] += batch.size();
      if (!inOrder && random.nextInt(30) == 0) {
        chunk.setEnd(CoreEnd.HALTED);
      }
      int at =
          inOrder || random.nextInt(4) > 0 ? entries.size() : 1 + random.nextInt(entries.size());
      entries.add(
          Math.min(at, entries.size()),
          new TraceEntry(null, Chunks.seal(chunk), null, null, null, null));
      if (!inOrder && random.nextInt(20) == 0) {
        sequence[core] += 3;
        clock[core] += random.nextBoolean() ? 1L << 40 : -(1L << 20);
      }
      if (!inOrder && random.nextInt(20) == 0) {
        entries.add(entries.get(random.nextInt(entries.size())));
      }
    }
    return entries;
  }

  /** The index of a file, made by reading it. */
  private static TraceIndex indexed(Path file, TraceIndex index) throws IOException {
    try (TraceFileReader reader = TraceFileReader.open(file)) {
      long from = reader.position();
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        long to = reader.position();
        if (entry.getImage() != null) {
          index.add(entry.getImage(), from, to);
        } else {
          index.add(entry.getChunk(), from, to);
        }
        from = to;
      }
    }
    return index;
  }

  private static byte[] withIndex(byte[] trace, IndexBlock index) throws IOException {
    return withIndex(trace, Traces.encoded(index), 0);
  }

  /** A whole trace with another index, behind checksums that hold but for {@code off}. */
  private static byte[] withIndex(byte[] trace, byte[] index, long off) throws IOException {
    List<Integer> ends = Traces.blockEnds(trace);
    int position = ends.get(ends.size() - 3);
    CRC32C crc = new CRC32C();
    crc.update(trace, 0, position);
    byte[] entry = new byte[index.length + 6];
    entry[2] = 2; // the field index is set, the others are null
    System.arraycopy(index, 0, entry, 3, index.length);
    byte[] indexBlock = Traces.block(entry);
    CRC32C indexCrc = new CRC32C();
    indexCrc.update(indexBlock);
    TraceSeal seal =
        new TraceSeal(
            ends.size() - 3L,
            (long) position,
            crc.getValue(),
            indexCrc.getValue() + off,
            0L,
            0L,
            false);
    byte[] sealBlock =
        Traces.block(Traces.encoded(new TraceEntry(null, null, null, seal, null, null)));
    byte[] changed = Mutations.splice(trace, position, trace.length - position, indexBlock);
    return Mutations.splice(changed, changed.length, 0, sealBlock);
  }

  private static IndexBlock decoded(byte[] bytes) throws IOException {
    return new SpecificDatumReader<IndexBlock>(IndexBlock.getClassSchema())
        .read(null, DecoderFactory.get().binaryDecoder(bytes, null));
  }

  private static void mutate(IndexBlock block, SplittableRandom random) {
    List<IndexedCore> cores = block.getCores();
    IndexedCore core = cores.isEmpty() ? null : cores.get(random.nextInt(cores.size()));
    List<IndexedRange> ranges = core == null ? block.getOthers() : core.getRanges();
    int at = ranges.isEmpty() ? -1 : random.nextInt(ranges.size());
    switch (random.nextInt(12)) {
      case 0 -> block.setRangeBytes(random.nextBoolean() ? 1L << random.nextInt(64) : any(random));
      case 1 -> block.setOtherImages(block.getOtherImages() + random.nextInt(-2, 3));
      case 2 -> {
        for (IndexedImage image : block.getImages()) {
          image.setPosition(image.getPosition() + any(random));
        }
      }
      case 3 -> block.setImages(new ArrayList<>());
      case 4 -> Collections.shuffle(cores, new Random(random.nextLong()));
      case 5 -> {
        if (core != null) {
          core.setCore(core.getCore() + "x");
        }
      }
      case 6 -> {
        if (core != null) {
          block.getOthers().addAll(core.getRanges());
          cores.remove(cores.indexOf(core));
        }
      }
      case 7 -> {
        if (at >= 0) {
          ranges.remove(at);
        }
      }
      case 8 -> {
        if (at >= 0) {
          ranges.add(random.nextInt(ranges.size() + 1), ranges.get(at));
        }
      }
      default -> {
        if (at >= 0) {
          mutate(ranges.get(at), random);
        }
      }
    }
  }

  private static void mutate(IndexedRange range, SplittableRandom random) {
    long by = any(random);
    switch (random.nextInt(9)) {
      case 8 -> range.setBytes(range.getBytes() + by);
      case 0 -> range.setPosition(range.getPosition() + by);
      case 1 -> range.setChunks(range.getChunks() + by);
      case 2 -> range.setSequence(range.getSequence() + by);
      case 3 -> range.setRecordsBefore(range.getRecordsBefore() + by);
      case 4 -> range.setRecords(range.getRecords() + by);
      case 5 -> range.setFirstTime(range.getFirstTime() + by);
      case 6 -> range.setLastTime(range.getLastTime() + by);
      default -> range.setKeyframe(!range.getKeyframe());
    }
  }

  private static long any(SplittableRandom random) {
    return switch (random.nextInt(4)) {
      case 0 -> random.nextLong();
      case 1 -> random.nextInt(-2, 3);
      default -> random.nextLong() >> random.nextInt(32, 64);
    };
  }
}
