package dev.retstack.machine.linux.call;

import dev.retstack.schema.wire.Visible;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * What a program asked for in vain: system calls, memory, files, and to run code where nothing is
 * traced. All of it is bounded.
 */
public final class InVain {
  /** Most different names that are counted; numbers that do not exist have no end. */
  private static final int NAMES_MAX = 512;

  private static final int FILES_SHOWN = 5;
  private static final int FILE_CHARS_MAX = 120;

  /** The loader asks for them before each program. */
  private static final String LOADER_FILES = "/etc/ld.so.";

  private final long memoryMax;
  private final SortedMap<String, Long> calls = new TreeMap<>();
  private long refusals;
  private long refusedBytes;
  private long refusedMappings;
  private int mappingsMax;
  private long codeBytes;
  private long codeAt;

  /** The first full name for each last part of one, which may be found in another folder yet. */
  private final Map<String, String> files = new LinkedHashMap<>();

  private long moreFiles;

  /**
   * @param memoryMax most bytes for heap and mappings together
   */
  public InVain(long memoryMax) {
    this.memoryMax = memoryMax;
  }

  /** A system call that does nothing, or one that was refused what it stands for. */
  public void call(String name) {
    boolean room = calls.size() < NAMES_MAX || calls.containsKey(name);
    calls.merge(room ? name : "others", 1L, Long::sum);
  }

  /** Memory was asked for beyond the limit. */
  public void memory(long bytes) {
    refusals++;
    refusedBytes += bytes;
  }

  /** A mapping was asked for where there are as many as there can be. */
  public void mapping(int most) {
    refusedMappings++;
    mappingsMax = most;
  }

  /** Memory of no file may be executed: a tracer knows no function there. */
  public void code(long address, long bytes) {
    codeAt = codeBytes == 0 ? address : codeAt;
    codeBytes += bytes;
  }

  /** A file was asked for that the program does not see. */
  public void file(String name) {
    if (name.startsWith(LOADER_FILES) || files.containsKey(last(name))) {
      return;
    }
    if (files.size() < NAMES_MAX) {
      files.put(last(name), name);
    } else {
      moreFiles++;
    }
  }

  /** A file was found: where it was asked for in other folders before, that was a search. */
  public void found(String name) {
    files.remove(last(name));
  }

  private static String last(String name) {
    return name.substring(name.lastIndexOf('/') + 1);
  }

  /** Names of system calls, sorted, with counts. */
  public SortedMap<String, Long> calls() {
    return Collections.unmodifiableSortedMap(new TreeMap<>(calls));
  }

  /**
   * Limits that the program reached, code that is in no file, and files that it did not find; a
   * line each, with the cure.
   *
   * @param failed true where it failed: else only files count that the host has, since no program
   *     finds the others anywhere. Folders do not: loaders search them
   */
  public List<String> lacks(boolean failed) {
    List<String> lines = new ArrayList<>();
    if (refusals > 0) {
      lines.add(
          "memory was refused %s, %s in all: heap and mappings have a limit of %s; raise it with --memory"
              .formatted(times(refusals), mebibytes(refusedBytes), mebibytes(memoryMax)));
    }
    if (refusedMappings > 0) {
      lines.add(
          "a mapping was refused %s: a core has at most %,d; map larger pieces"
              .formatted(times(refusedMappings), mappingsMax));
    }
    if (codeBytes > 0) {
      lines.add(
          "%,d bytes of memory were made executable, first at 0x%x: calls in it are not traced. A JIT needs nothing else; of functions that are copied there call the originals"
              .formatted(codeBytes, codeAt));
    }
    List<String> missed = files.values().stream().filter(f -> failed || isOnHost(f)).toList();
    if (!missed.isEmpty()) {
      long more = missed.size() - FILES_SHOWN + moreFiles;
      lines.add(
          "asked in vain for %s%s: it sees only files below --readable and --writable"
              .formatted(
                  String.join(", ", missed.stream().limit(FILES_SHOWN).map(InVain::shown).toList()),
                  more > 0 ? " and %,d more".formatted(more) : ""));
    }
    return lines;
  }

  private static boolean isOnHost(String name) {
    try {
      return Files.exists(Path.of(name)) && !Files.isDirectory(Path.of(name));
    } catch (InvalidPathException _) {
      return false;
    }
  }

  private static String shown(String name) {
    return Visible.cut(name, FILE_CHARS_MAX) + (name.length() > FILE_CHARS_MAX ? "..." : "");
  }

  private static String times(long n) {
    return n == 1 ? "once" : "%,d times".formatted(n);
  }

  private static String mebibytes(long bytes) {
    return "%,.1f MiB".formatted(bytes / (double) (1 << 20));
  }
}
