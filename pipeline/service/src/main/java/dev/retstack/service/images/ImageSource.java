package dev.retstack.service.images;

import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletionStage;

/** Reads images again that left memory. */
public interface ImageSource {
  /**
   * Reads the record at this place, however long that takes: if Kafka is away, it waits. Empty if
   * no image is there any more. Fails if Kafka refuses for good; never completes once it is closed.
   */
  CompletionStage<Optional<ImageRecord>> read(ImagePlace place);

  /**
   * Reads the whole topic, and gives the first record of each of these images that is there. Waits,
   * fails and ends as {@link #read} does.
   *
   * @param claimed by build-id, the digest of the only content that counts
   */
  CompletionStage<Map<String, ImageRecord>> search(
      Set<String> buildIds, Map<String, String> claimed);
}
