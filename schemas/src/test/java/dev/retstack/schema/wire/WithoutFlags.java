package dev.retstack.schema.wire;

import dev.retstack.schema.Chunk;
import dev.retstack.schema.file.TraceFileReader;
import java.nio.file.Files;
import java.nio.file.Path;

/** Reads a golden message and a golden trace in a JVM that was given no flags. */
final class WithoutFlags {
  private WithoutFlags() {}

  public static void main(String[] args) throws Exception {
    Path golden = Path.of(args[1]);
    if (args[0].equals("message")) {
      byte[] message = Files.readAllBytes(golden.resolve("message-Chunk.bin"));
      System.out.println("core " + ConfluentFrame.decode(message, Chunk.class).getCore());
    } else {
      try (TraceFileReader reader = TraceFileReader.open(golden.resolve("trace.avro"))) {
        System.out.println(
            "core " + (reader.next() == null ? "none" : reader.next().getChunk().getCore()));
      }
    }
  }
}
