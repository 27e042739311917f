package dev.retstack.schema.file;

import dev.retstack.schema.TraceEntry;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Whole traces in and out of lists. */
final class Traces {
  /** Marker of traces whose bytes must be the same each time. */
  static final byte[] SYNC = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16};

  private Traces() {}

  static void write(Path file, List<TraceEntry> entries) throws IOException {
    try (TraceFileWriter writer = TraceFileWriter.open(file, SYNC)) {
      for (TraceEntry entry : entries) {
        if (entry.getImage() != null) {
          writer.write(entry.getImage());
        } else {
          writer.write(entry.getChunk());
        }
      }
    }
  }

  static List<TraceEntry> rest(TraceFileReader reader) throws IOException {
    List<TraceEntry> entries = new ArrayList<>();
    for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
      entries.add(entry);
    }
    return entries;
  }
}
