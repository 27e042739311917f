package dev.retstack.service.replay;

import dev.retstack.schema.PyramidPlace;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Blocks of a trace's pyramid that were read lately, of all cores: the next step of a person needs
 * nearly the same. Safe for use by several threads.
 */
final class PyramidCache {
  /** Some hundred blocks: a window takes about ten of each core. */
  static final long BYTES_MAX = 32 << 20;

  private final long most;
  private final Map<Key, PyramidBlock> blocks = new LinkedHashMap<>(16, 0.75f, true);
  private long bytes;

  /** One place of the directory; another one may say the same of another core. */
  private record Key(PyramidPlace place) {
    @Override
    public boolean equals(Object other) {
      return other instanceof Key(PyramidPlace one) && one == place;
    }

    @Override
    public int hashCode() {
      return System.identityHashCode(place);
    }
  }

  /**
   * Holds nothing so far.
   *
   * @param most bytes at once
   */
  PyramidCache(long most) {
    this.most = most;
  }

  /** The block; null where it is not held. */
  synchronized PyramidBlock get(PyramidPlace place) {
    return blocks.get(new Key(place));
  }

  /** Holds a block, in place of those that were not asked for the longest. */
  synchronized void put(PyramidPlace place, PyramidBlock block) {
    if (block.bytes() > most) {
      return;
    }
    PyramidBlock before = blocks.put(new Key(place), block);
    bytes += block.bytes() - (before == null ? 0 : before.bytes());
    Iterator<PyramidBlock> oldest = blocks.values().iterator();
    while (bytes > most) {
      bytes -= oldest.next().bytes();
      oldest.remove();
    }
  }

  /** Bytes that are held. */
  synchronized long bytes() {
    return bytes;
  }
}
