package dev.retstack.schema.chunk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.Samples;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.codec.RecordsCodec;
import dev.retstack.schema.record.RecordBatch;
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
