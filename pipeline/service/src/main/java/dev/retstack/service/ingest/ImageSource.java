package dev.retstack.service.ingest;

import java.util.Optional;
import java.util.function.Consumer;

/** Reads images again that went from memory. */
@FunctionalInterface
public interface ImageSource {
  /**
   * Reads the record that stands there, however long that takes: a Kafka that is away is waited
   * for.
   *
   * @param told hears of it on another thread; empty where no image stands there any more
   */
  void read(ImagePlace place, Consumer<Optional<ImageRecord>> told);
}
