package dev.retstack.machine.linux;

import io.soabase.recordbuilder.core.RecordBuilder;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The surroundings of a program.
 *
 * @param arguments {@code argv}, the program's name first; not empty
 * @param environment {@code envp}, in the map's order
 * @param stdin file descriptor 0; a read that waits holds up the thread of the core
 * @param stdout file descriptor 1; flushed at the end, not closed
 * @param stderr file descriptor 2; flushed at the end, not closed
 * @param seed of AT_RANDOM and getrandom
 * @param stackBytes size of the stack, a multiple of 64 KiB
 * @param memoryBytesMax most memory for heap and mappings together
 * @param outputBytesMax most output, on stdout and stderr together: more ends the program. What
 *     files grow by counts too: beyond it their disk is full
 * @param readable files and folders of the host that the program may open for reading
 * @param writable folders of the host in which the program may make, change and remove files
 * @param sysroot where its shared objects are; empty: it is looked for
 */
@RecordBuilder
public record LinuxOptions(
    List<String> arguments,
    Map<String, String> environment,
    InputStream stdin,
    OutputStream stdout,
    OutputStream stderr,
    long seed,
    long stackBytes,
    long memoryBytesMax,
    long outputBytesMax,
    List<Path> readable,
    List<Path> writable,
    Optional<Path> sysroot)
    implements LinuxOptionsBuilder.With {

  /** Default size of the stack: that of most Linux systems. */
  public static final long STACK_BYTES = 8L << 20;

  /** Default limit of heap and mappings. */
  public static final long MEMORY_BYTES_MAX = 256L << 20;

  /** Default limit of output. */
  public static final long OUTPUT_BYTES_MAX = 64L << 20;

  /** Checks what the type cannot. */
  public LinuxOptions {
    arguments = List.copyOf(arguments);
    readable = List.copyOf(readable);
    writable = List.copyOf(writable);
    environment = Collections.unmodifiableMap(new LinkedHashMap<>(environment));
    if (arguments.isEmpty()) {
      throw new IllegalArgumentException("no arguments: the first one is the program's name");
    }
    if (stackBytes <= 0 || stackBytes % (64 << 10) != 0 || stackBytes > 1L << 30) {
      throw new IllegalArgumentException(
          "stack of " + stackBytes + " bytes: a multiple of 64 KiB, at most 1 GiB");
    }
    if (memoryBytesMax < 0) {
      throw new IllegalArgumentException("memory limit " + memoryBytesMax + " is negative");
    }
    if (outputBytesMax < 0) {
      throw new IllegalArgumentException("output limit " + outputBytesMax + " is negative");
    }
  }

  /** A program with a name, no input, an empty environment, and its output thrown away. */
  public static LinuxOptions of(String program) {
    return new LinuxOptions(
        List.of(program),
        Map.of(),
        InputStream.nullInputStream(),
        OutputStream.nullOutputStream(),
        OutputStream.nullOutputStream(),
        1,
        STACK_BYTES,
        MEMORY_BYTES_MAX,
        OUTPUT_BYTES_MAX,
        List.of(),
        List.of(),
        Optional.empty());
  }

  /** These options with other streams. */
  public LinuxOptions withStreams(InputStream in, OutputStream out, OutputStream err) {
    return with(options -> options.stdin(in).stdout(out).stderr(err));
  }

  /** These options with another stack, and other limits of memory and output. */
  public LinuxOptions withLimits(long stack, long memory, long output) {
    return with(o -> o.stackBytes(stack).memoryBytesMax(memory).outputBytesMax(output));
  }
}
