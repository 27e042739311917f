package dev.retstack.schema.codec;

/**
 * Bytes that are not a chunk, or not the chunk that they claim to be. The message says what is
 * wrong and where.
 */
public final class CorruptChunkException extends Exception {
  private static final long serialVersionUID = 1;

  public CorruptChunkException(String message) {
    super(message);
  }

  public CorruptChunkException(String message, Throwable cause) {
    super(message, cause);
  }
}
