package dev.retstack.schema.file;

import dev.retstack.schema.PyramidCore;
import dev.retstack.schema.PyramidDirectory;
import dev.retstack.schema.PyramidPlace;
import dev.retstack.schema.PyramidTiles;
import dev.retstack.schema.TraceSeal;
import java.io.IOException;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/**
 * The pyramid of a recorded trace: what each core did, by tiles of time. Its directory is read at
 * once, and each block when it is asked for. The seal names the directory and its checksum, the
 * directory those of the blocks, and the trace of which it was made. What does not agree with that
 * is not believed. Its figures of calls are only as certain as the reader's comparison with the
 * chunks. Safe for use by several threads, of which one at a time reads.
 */
public final class TracePyramid {
  private final String file;
  private final TraceFileReader blocks;
  private final PyramidDirectory directory;
  private final IdentityHashMap<PyramidPlace, Long> positions;

  private TracePyramid(
      String file,
      TraceFileReader blocks,
      PyramidDirectory directory,
      IdentityHashMap<PyramidPlace, Long> positions) {
    this.file = file;
    this.blocks = blocks;
    this.directory = directory;
    this.positions = positions;
  }

  /**
   * A pyramid is not what it should be: the chunks are to be asked. The message is for the user.
   */
  public static final class WrongPyramidException extends Exception {
    private static final long serialVersionUID = 1;

    public WrongPyramidException(String message) {
      super(message);
    }
  }

  /**
   * The pyramid of a complete trace.
   *
   * @param first where the first block of the file begins
   * @return null where it has none
   * @throws WrongPyramidException where it is not of this trace, or was changed
   */
  static TracePyramid of(String file, TraceFileReader blocks, long first)
      throws IOException, WrongPyramidException {
    TraceFileReader.Tail tail = blocks.tail(first);
    if (tail == null || tail.seal().getPyramid() == 0) {
      return null;
    }
    TraceSeal seal = tail.seal();
    try {
      if (seal.getPyramid() < first || seal.getPyramid() >= tail.sealAt()) {
        throw new WrongPyramidException(wrong(file, "its directory is not in the file"));
      }
      var _ = blocks.entryAt(seal.getBytes());
      long begin = blocks.position();
      PyramidDirectory directory = blocks.entryAt(seal.getPyramid()).getPyramid();
      if (directory == null
          || blocks.blockCrc32c() != seal.getPyramidCrc32c()
          || blocks.position() != tail.sealAt()) {
        throw new WrongPyramidException(wrong(file, "its directory is not where the seal says"));
      }
      String fault = fault(directory, seal, begin);
      if (!fault.isEmpty()) {
        throw new WrongPyramidException(wrong(file, fault));
      }
      IdentityHashMap<PyramidPlace, Long> positions = new IdentityHashMap<>();
      long at = begin;
      for (PyramidPlace place : places(directory).toList()) {
        positions.put(place, at);
        at += place.getBytes();
      }
      return new TracePyramid(file, blocks, directory, positions);
    } catch (CorruptTraceException e) {
      throw new WrongPyramidException(wrong(file, e.getMessage()));
    }
  }

  /** All blocks, in the order of the file. */
  static Stream<PyramidPlace> places(PyramidDirectory directory) {
    return directory.getCores().stream()
        .flatMap(core -> core.getLevels().stream())
        .flatMap(level -> level.getBlocks().stream());
  }

  /**
   * What is wrong with a directory by itself; empty where nothing is.
   *
   * @param begin where its first block must be
   */
  static String fault(PyramidDirectory directory, TraceSeal seal, long begin) {
    if (directory.getBytes() != seal.getBytes() || directory.getCrc32c() != seal.getCrc32c()) {
      return "it was made of another trace";
    }
    long at = begin;
    for (PyramidPlace place : places(directory).toList()) {
      if (place.getBytes() < 1 || place.getFrom() < 0 || place.getTo() < place.getFrom()) {
        return "a block of %d bytes with times from %d to %d"
            .formatted(place.getBytes(), place.getFrom(), place.getTo());
      }
      at += place.getBytes();
    }
    if (at != seal.getPyramid()) {
      return "its blocks end at byte %d, and its directory begins at %d"
          .formatted(at, seal.getPyramid());
    }
    return areLevels(directory) ? "" : "its levels do not become coarser";
  }

  private static boolean areLevels(PyramidDirectory directory) {
    Map<TraceIndex.Core, PyramidCore> cores = new HashMap<>();
    for (PyramidCore core : directory.getCores()) {
      int shift = -1;
      for (var level : core.getLevels()) {
        if (level.getShift() <= shift || level.getShift() >= Long.SIZE - 1) {
          return false;
        }
        shift = level.getShift();
      }
      TraceIndex.Core key = new TraceIndex.Core(core.getSession(), core.getCore());
      if (shift < 0 || cores.put(key, core) != null) {
        return false;
      }
    }
    return true;
  }

  /** The words for the user. */
  static String wrong(String file, String why) {
    return "%s: its pyramid is wrong, the chunks themselves are asked (retstack index makes it anew): %s"
        .formatted(file, why);
  }

  /** The cores that it describes. */
  public List<PyramidCore> cores() {
    return directory.getCores();
  }

  /**
   * Reads a block.
   *
   * @param place one of this directory
   * @throws WrongPyramidException where it is not the one that the directory names
   */
  public PyramidTiles read(PyramidPlace place) throws IOException, WrongPyramidException {
    try {
      synchronized (blocks) {
        long at = positions.get(place);
        PyramidTiles tiles = blocks.entryAt(at).getTiles();
        if (tiles == null
            || blocks.position() - at != place.getBytes()
            || blocks.blockCrc32c() != place.getCrc32c()) {
          throw new WrongPyramidException(wrong(file, "a block is not what its directory names"));
        }
        return tiles;
      }
    } catch (CorruptTraceException e) {
      throw new WrongPyramidException(wrong(file, e.getMessage()));
    }
  }

  /** The exception for a reader that found a fault in a block's content. */
  public WrongPyramidException wrong(String why) {
    return new WrongPyramidException(wrong(file, why));
  }
}
