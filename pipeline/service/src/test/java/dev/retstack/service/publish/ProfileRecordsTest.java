package dev.retstack.service.publish;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.input.ChunkMeta;
import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.input.ImageTraits;
import dev.retstack.graph.state.GraphState;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.Profile;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.ConfluentFrame;
import dev.retstack.schema.wire.Topics;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Totals go out a limited number of rows at a time, and each row goes out. */
class ProfileRecordsTest {
  private static final int FUNCTIONS = 20;
  private static final int ROWS_MAX = 6;
  private static final long MAIN = 0x1000;

  private final GraphState state = new GraphState();
  private long sequence;
  private long recordsBefore;
  private long time;

  ProfileRecordsTest() {
    state.image(
        new ImageInfo(
            "feed",
            "os.elf",
            "x86_64",
            new ImageTraits(true, true, 0, 0),
            SymbolTable.of(List.of())));
  }

  @Test
  void aLargeProfileGoesOutInPieces() throws CorruptChunkException {
    call(0, FUNCTIONS);
    ProfileRecords pieces = records(ROWS_MAX);
    Map<String, Long> seen = new HashMap<>();
    int passes = 0;
    do {
      List<ProfileRow> piece = pieces.changed(state, 1);
      assertThat(piece).hasSizeLessThanOrEqualTo(ROWS_MAX);
      calls(seen, piece);
      passes++;
    } while (pieces.isLeft());
    assertThat(seen).isEqualTo(whole());
    assertThat(passes).isEqualTo((seen.size() + ROWS_MAX - 1) / ROWS_MAX);
    assertThat(pieces.changed(state, 2)).isEmpty();
  }

  @Test
  void rowsThatChangeAllTheTimeKeepNoOtherWaiting() throws CorruptChunkException {
    call(0, FUNCTIONS);
    ProfileRecords pieces = records(ROWS_MAX);
    Map<String, Long> seen = new HashMap<>();
    for (int pass = 0; pass < 2 * FUNCTIONS; pass++) {
      calls(seen, pieces.changed(state, pass));
      call(0, ROWS_MAX); // as many rows in front, functions and edges, as go out at once
    }
    assertThat(seen.keySet()).isEqualTo(whole().keySet());
    while (pieces.isLeft()) {
      calls(seen, pieces.changed(state, 100));
    }
    calls(seen, pieces.changed(state, 101));
    assertThat(seen).isEqualTo(whole());
    assertThat(pieces.isLeft()).isFalse();
  }

  /** What was published last may have been given up with its transaction. */
  @Test
  void aStateThatIsOpenedAgainPublishesAllItsRows() throws CorruptChunkException {
    call(0, FUNCTIONS);
    ProfileRecords pieces = records(Integer.MAX_VALUE);
    assertThat(pieces.changed(state, 1)).isNotEmpty();
    pieces.opened();
    Map<String, Long> seen = new HashMap<>();
    calls(seen, pieces.changed(state, 2));
    assertThat(seen).isEqualTo(whole());
  }

  /** Totals are added up once for all rows: once for each row it took minutes. */
  @Test
  @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
  void manyRowsTakeAsLongAsTheyAreMany() {
    int functions = 100_000;
    call(0, functions);
    ProfileRecords pieces = records(1);
    assertThat(pieces.changed(state, 1)).hasSize(1);
    assertThat(pieces.isLeft()).isTrue();
  }

  /** A core whose clock has another unit: no row of one takes the place of a row of the other. */
  @Test
  void eachUnitHasItsOwnRows() throws CorruptChunkException {
    call(0, 1);
    Map<String, Long> one = whole();
    RecordBatch batch = new RecordBatch(2);
    add(batch, RecordBatch.ENTRY, 0, MAIN);
    add(batch, RecordBatch.EXIT, 0, MAIN);
    state.apply(
        ChunkMeta.running(0, 0, 0, time, ClockUnit.NANOSECONDS),
        new CoreKey("s", "core1"),
        "feed",
        batch);
    assertThat(whole()).hasSize(one.size() + 1).containsAllEntriesOf(one);
  }

  private static ProfileRecords records(int rowsMax) {
    return new ProfileRecords(Topics.standard(), 0, rowsMax);
  }

  /** Calls of each row, as one checkpoint without a limit has them. */
  private Map<String, Long> whole() throws CorruptChunkException {
    Map<String, Long> calls = new HashMap<>();
    calls(calls, records(Integer.MAX_VALUE).changed(state, 1));
    return calls;
  }

  private static void calls(Map<String, Long> into, List<ProfileRow> rows)
      throws CorruptChunkException {
    for (ProducerRecord<byte[], byte[]> row : records(ROWS_MAX).records(rows)) {
      into.put(
          new String(row.key(), StandardCharsets.UTF_8),
          ConfluentFrame.decode(row.value(), Profile.class).getCalls());
    }
  }

  /** A function calls each of these once. */
  private void call(int first, int end) {
    RecordBatch batch = new RecordBatch(2 * (end - first) + 2);
    long begin = time;
    add(batch, RecordBatch.ENTRY, 0, MAIN);
    for (int function = first; function < end; function++) {
      long selfPc = MAIN + 0x100L * (function + 1);
      add(batch, RecordBatch.ENTRY, 1, selfPc);
      add(batch, RecordBatch.EXIT, 1, selfPc);
    }
    add(batch, RecordBatch.EXIT, 0, MAIN);
    state.apply(
        ChunkMeta.running(sequence++, recordsBefore, begin, time, ClockUnit.INSTRUCTIONS),
        new CoreKey("s", "core0"),
        "feed",
        batch);
    recordsBefore += batch.size();
  }

  private void add(RecordBatch batch, byte kind, int depth, long selfPc) {
    long retp = 0x8000 - 0x20L * depth;
    batch.add(kind, time++, depth, selfPc, 0x900, retp, retp);
  }
}
