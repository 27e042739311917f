package dev.retstack.service.reconstruct;

import dev.retstack.schema.Chunk;
import dev.retstack.service.ingest.ImagePlace;
import java.util.Optional;

/** A chunk whose image has not come yet. */
record ParkedChunk(PartitionGraph.Ingest ingest, Chunk chunk) {
  /**
   * Why it is refused once the patience is over.
   *
   * @param goneFrom where the image stood that is in the topic no longer
   */
  String reason(PartitionSettings settings, Optional<ImagePlace> goneFrom) {
    if (goneFrom.isPresent()) {
      return "image %s of core %s is no longer in topic %s, where it stood at %s: publish it again"
          .formatted(chunk.getImage(), chunk.getCore(), settings.topics().images(), goneFrom.get());
    }
    return "image %s of core %s did not come within %d s: publish it to topic %s first"
        .formatted(
            chunk.getImage(),
            chunk.getCore(),
            settings.imagePatience().toSeconds(),
            settings.topics().images());
  }
}
