package dev.retstack.fleet.publish;

import dev.retstack.schema.record.Mark;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.List;

/** Where the records of a core go: to the sink, or into its flight recorder until asked for. */
public final class CoreOutput {
  private final ChunkPublisher publisher;
  private final int recordsPerChunk;
  private FlightRecorder recorder;
  private int kept;
  private ChunkPublisher.Refused refused = ChunkPublisher.Refused.NONE;

  public CoreOutput(ChunkPublisher publisher, int recordsPerChunk) {
    this.publisher = publisher;
    this.recordsPerChunk = recordsPerChunk;
  }

  /**
   * From now on keeps the latest records, up to this number; 0: sends all. What it held is sent.
   */
  public void keep(int records) throws IOException, InterruptedException {
    if (records != kept) {
      snapshot();
      kept = records;
      recorder = records == 0 ? null : new FlightRecorder(records, publisher.place());
    }
  }

  /** Counts what left no records; sent with the next ones. */
  public void refused(ChunkPublisher.Refused more) {
    refused = refused.plus(more);
  }

  /** Build-ids of the images that MAP records of what follows name by their numbers. */
  public void images(List<String> buildIds) {
    publisher.images(buildIds);
  }

  /** Takes records, which are the caller's again after. */
  public void add(RecordBatch batch) throws IOException, InterruptedException {
    if (recorder == null) {
      publisher.publish(batch, takeRefused());
      return;
    }
    int from = 0;
    for (int i = 0; i < batch.size(); i++) {
      if (batch.kind[i] == RecordBatch.MARK && batch.fromPc[i] == Mark.SNAPSHOT.code()) {
        recorder.add(batch, from, i + 1);
        from = i + 1;
        snapshot();
      }
    }
    recorder.add(batch, from, batch.size());
  }

  private ChunkPublisher.Refused takeRefused() {
    ChunkPublisher.Refused taken = refused;
    refused = ChunkPublisher.Refused.NONE;
    return taken;
  }

  /** Sends what the flight recorder holds; without one there is nothing to do. */
  public void snapshot() throws IOException, InterruptedException {
    if (recorder == null) {
      return;
    }
    RecordBatch all = recorder.take();
    ChunkPublisher.Refused first = takeRefused();
    for (int from = 0; from < all.size(); from += recordsPerChunk) {
      int end = Math.min(all.size(), from + recordsPerChunk);
      RecordBatch part = new RecordBatch(end - from);
      part.addAll(all, from, end);
      publisher.publish(part, from == 0 ? first : ChunkPublisher.Refused.NONE);
    }
  }

  /** Sends the last records, those of the flight recorder before them, and how the core ended. */
  public void end(RecordBatch rest, ChunkPublisher.Ending ending)
      throws IOException, InterruptedException {
    if (recorder == null) {
      publisher.end(rest, takeRefused(), ending);
      return;
    }
    add(rest);
    snapshot();
    publisher.end(new RecordBatch(0), takeRefused(), ending);
  }

  /** Records sent. */
  public long records() {
    return publisher.records();
  }

  /** Chunks sent. */
  public long chunks() {
    return publisher.chunks();
  }
}
