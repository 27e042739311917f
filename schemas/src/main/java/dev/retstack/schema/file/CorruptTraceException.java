package dev.retstack.schema.file;

import java.io.IOException;

/** A file that is not a recorded trace, or that was changed after it was recorded. */
public final class CorruptTraceException extends IOException {
  private static final long serialVersionUID = 1;

  private final String file;
  private final long offset;

  CorruptTraceException(String file, long offset, String what) {
    super(file + ", byte " + offset + ": " + what);
    this.file = file;
    this.offset = offset;
  }

  /** The file as it was opened. */
  public String file() {
    return file;
  }

  /** Where the file stops being a trace: the byte itself, or the start of the block around it. */
  public long offset() {
    return offset;
  }
}
