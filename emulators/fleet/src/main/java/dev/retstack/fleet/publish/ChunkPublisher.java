package dev.retstack.fleet.publish;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.ClockUnit;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.chunk.Chunks;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.List;

/**
 * Turns the batches of one core into its stream of chunks: numbered without gaps, each small enough
 * to send, the last one saying how the core ended. One thread at a time.
 */
public final class ChunkPublisher {
  private final ChunkSink sink;
  private final Stream stream;
  private final ChunkCodec codec;
  private final int payloadBytesMax;
  private long sequence;
  private List<String> images = List.of();
  private long records;

  /** Where the next record is. */
  private final TaskPlace place = new TaskPlace();

  /**
   * What is the same in all chunks of a core.
   *
   * @param session of this start of the fleet
   * @param core name of the core
   * @param isa as in the capability table
   * @param image build-id of what it runs
   * @param clockUnit unit of the records' times
   */
  public record Stream(
      String session, String core, String isa, String image, ClockUnit clockUnit) {}

  /**
   * What a probe counted beside the records of a batch.
   *
   * @param overruns entries refused because ret_stack was full
   * @param unhijackable entries left alone
   * @param abandoned frames forgotten that may return yet
   */
  public record Refused(long overruns, long unhijackable, long abandoned) {
    public static final Refused NONE = new Refused(0, 0, 0);

    /** Both together. */
    public Refused plus(Refused more) {
      return new Refused(
          overruns + more.overruns, unhijackable + more.unhijackable, abandoned + more.abandoned);
    }
  }

  /**
   * How a core ended.
   *
   * @param end anything but RUNNING
   * @param detail in words
   * @param time the core's clock
   */
  public record Ending(CoreEnd end, String detail, long time) {
    public Ending {
      if (end == CoreEnd.RUNNING) {
        throw new IllegalArgumentException("a core that is RUNNING has not ended");
      }
    }
  }

  /**
   * A publisher of one core.
   *
   * @param payloadBytesMax a batch whose payload is longer is sent in parts
   */
  public ChunkPublisher(ChunkSink sink, Stream stream, ChunkCodec codec, int payloadBytesMax) {
    this.sink = sink;
    this.stream = stream;
    this.codec = codec;
    this.payloadBytesMax = payloadBytesMax;
  }

  /**
   * Sends a batch; one without records and refusals is not sent. The batch is the caller's again
   * after.
   */
  public void publish(RecordBatch batch, Refused refused) throws IOException, InterruptedException {
    if (batch.size() > 0 || !refused.equals(Refused.NONE)) {
      send(batch, refused, null);
    }
  }

  /** Sends the last batch, empty or not, and how the core ended. */
  public void end(RecordBatch batch, Refused refused, Ending ending)
      throws IOException, InterruptedException {
    send(batch, refused, ending);
  }

  /** Where the next chunk begins; a caller that drops records advances it past them. */
  public TaskPlace place() {
    return place;
  }

  /** Records sent. */
  public long records() {
    return records;
  }

  /** Chunks sent. */
  public long chunks() {
    return sequence;
  }

  private void send(RecordBatch batch, Refused refused, Ending ending)
      throws IOException, InterruptedException {
    Chunk chunk = seal(batch, refused, ending);
    if (chunk.getPayload().remaining() > payloadBytesMax && batch.size() > 1) {
      int half = batch.size() / 2;
      RecordBatch first = part(batch, 0, half);
      first.setKeyframe(batch.keyframe());
      send(first, refused, null);
      send(part(batch, half, batch.size()), Refused.NONE, ending);
      return;
    }
    sink.chunk(chunk);
    place.pass(batch);
    sequence++;
    records += batch.size();
  }

  /** Build-ids of the images that MAP records of what follows name by their numbers. */
  public void images(List<String> buildIds) {
    images = buildIds;
  }

  private boolean namesImages(RecordBatch batch) {
    if (images.isEmpty() || (batch.keyframe() != null && batch.keyframe().maps().size() > 0)) {
      return !images.isEmpty();
    }
    int i = 0;
    while (i < batch.size() && batch.kind[i] != RecordBatch.MAP) {
      i++;
    }
    return i < batch.size();
  }

  private Chunk seal(RecordBatch batch, Refused refused, Ending ending) {
    Chunk.Builder chunk =
        Chunk.newBuilder()
            .setSession(stream.session())
            .setCore(stream.core())
            .setIsa(stream.isa())
            .setImage(stream.image())
            .setSequence(sequence)
            .setClockUnit(stream.clockUnit())
            .setRecordsBefore(records)
            .setOverruns(refused.overruns())
            .setUnhijackable(refused.unhijackable())
            .setAbandoned(refused.abandoned())
            .setTask(place.task())
            .setInterrupts(place.interrupts());
    if (ending != null) {
      chunk.setEnd(ending.end()).setEndDetail(ending.detail()).setLastTime(ending.time());
    }
    if (batch.size() == 0) {
      long time = ending == null ? 0 : ending.time();
      chunk.setFirstTime(time).setLastTime(time);
      if (ending == null) { // nothing says when it begins
        batch.setKeyframe(null);
      }
    }
    batch.setImages(namesImages(batch) ? List.copyOf(images) : List.of());
    return Chunks.seal(chunk, codec, batch);
  }

  private static RecordBatch part(RecordBatch batch, int from, int to) {
    RecordBatch part = new RecordBatch(to - from);
    part.addAll(batch, from, to);
    return part;
  }
}
