package dev.retstack.benchmarks.endurance;

import dev.retstack.benchmarks.stages.SyntheticCore;
import dev.retstack.schema.Image;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.wire.Topics;
import dev.retstack.service.kafka.KafkaSettings;
import dev.retstack.service.transfer.TraceProducer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Cores that send in turn, as fast as they are told to. Not safe for use by several threads. */
final class Load implements AutoCloseable {
  private static final int IMAGES = 4;
  private static final int FUNCTIONS = 2_000;
  private static final int WINDOW = 500;

  private final TraceProducer producer;
  private final RecordBatch batch;
  private final List<SyntheticCore> cores = new ArrayList<>();
  private long sent;

  /**
   * Cores that have sent their image.
   *
   * @param records of one chunk
   */
  Load(String bootstrap, String session, int count, int records)
      throws IOException, InterruptedException {
    producer =
        new TraceProducer(
            new KafkaSettings(bootstrap, Map.of("linger.ms", "5")), Topics.standard());
    batch = new RecordBatch(records);
    List<Image> images = new ArrayList<>();
    for (int i = 0; i < IMAGES; i++) {
      images.add(SyntheticCore.image("load-" + i, FUNCTIONS));
      producer.image(images.getLast());
    }
    for (int i = 0; i < count; i++) {
      Image image = images.get(i % IMAGES);
      int first = i * WINDOW / IMAGES % FUNCTIONS;
      cores.add(new SyntheticCore(image, session, "core-" + i, first, WINDOW));
    }
  }

  /** So many chunks, of the cores in turn. */
  void send(int chunks) throws IOException, InterruptedException {
    for (int i = 0; i < chunks; i++) {
      producer.chunk(cores.get((int) (sent++ % cores.size())).next(batch));
    }
  }

  /** All cores end; everything is stored when this returns. */
  void end() throws IOException, InterruptedException {
    for (SyntheticCore core : cores) {
      producer.chunk(core.end());
    }
    producer.flush();
  }

  /** Chunks sent so far. */
  long chunks() {
    return sent;
  }

  /** Records sent so far. */
  long records() {
    return cores.stream().mapToLong(SyntheticCore::records).sum();
  }

  @Override
  public void close() {
    producer.close();
  }
}
