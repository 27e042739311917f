package dev.retstack.fleet.publish;

import dev.retstack.schema.Image;
import java.io.IOException;
import java.util.HashSet;
import java.util.Set;
import java.util.function.Supplier;

/** Sends images of a fleet, each once: many cores run the same, and map the same shared objects. */
public final class SentImages {
  private final ChunkSink sink;
  private final Set<String> sent = new HashSet<>();

  /** None was sent. */
  public SentImages(ChunkSink sink) {
    this.sink = sink;
  }

  /** Sends an image that was not sent; when this returns, chunks may name it. */
  public synchronized void send(String buildId, Supplier<Image> image)
      throws IOException, InterruptedException {
    if (!sent.contains(buildId)) {
      sink.image(image.get());
      sent.add(buildId);
    }
  }
}
