package dev.retstack.service.reconstruct;

import dev.retstack.schema.Chunk;

/** A chunk whose image has not come yet. */
record ParkedChunk(PartitionGraph.Ingest ingest, Chunk chunk) {
  /** Why it is refused once the patience is over. */
  String reason(PartitionSettings settings) {
    return "image %s of core %s did not come within %d s: publish it to topic %s first"
        .formatted(
            chunk.getImage(),
            chunk.getCore(),
            settings.imagePatience().toSeconds(),
            settings.topics().images());
  }
}
