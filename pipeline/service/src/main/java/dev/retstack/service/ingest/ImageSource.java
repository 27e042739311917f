package dev.retstack.service.ingest;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;

/** Reads images again that went from memory. */
public interface ImageSource {
  /**
   * Reads the record that stands there, however long that takes: a Kafka that is away is waited
   * for.
   *
   * @param told hears of it on another thread; empty where no image stands there any more
   */
  void read(ImagePlace place, Consumer<Optional<ImageRecord>> told);

  /**
   * Reads all of the topic for these images, however long that takes.
   *
   * @param told hears on another thread of the newest record of each that is there
   */
  void search(Set<String> buildIds, Consumer<Map<String, ImageRecord>> told);
}
