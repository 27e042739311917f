package dev.retstack.answers.replay;

import dev.retstack.schema.Chunk;
import java.io.IOException;
import java.nio.file.Path;

/** A file that reads as a trace but whose entries do not fit together. */
public final class InvalidTraceException extends IOException {
  private static final long serialVersionUID = 1;

  public InvalidTraceException(String message, Throwable cause) {
    super(message, cause);
  }

  /** A chunk whose image does not stand before it. */
  public static InvalidTraceException withoutImage(Path file, Chunk chunk) {
    return new InvalidTraceException(
        "%s: chunk %d of core %s names image %s, which is not before it"
            .formatted(file, chunk.getSequence(), chunk.getCore(), chunk.getImage()),
        null);
  }
}
