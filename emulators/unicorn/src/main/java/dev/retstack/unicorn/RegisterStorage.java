package dev.retstack.unicorn;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.IntStream;

/**
 * Where an engine keeps registers in this process's memory, for a hook in C that reads some in each
 * call: a load instead of {@code uc_reg_read}, which takes 7 ns.
 *
 * <p>The library does not say where, so the place is searched. Random numbers are written to the
 * registers by {@code uc_reg_write}, and looked for in what the engine's structure points to. A
 * place is accepted only if it follows several rounds of them, whichever register was written last
 * (a copy of a call's argument does not). Then {@code uc_reg_read} must return what was stored
 * there. Nothing is stored anywhere else, because memory around belongs to other threads. Memory is
 * read through {@code /proc/self/mem}, which reports an error for unmapped addresses. If any step
 * fails, registers are read by calls.
 */
final class RegisterStorage {
  /** Bytes of the engine's structure, and of what it points to, that are searched. */
  private static final int STRUCTURE = 1 << 13;

  private static final int OBJECT = 1 << 16;
  private static final int ROUNDS = 3;
  private static final long LOWEST = 1 << 16;
  private static final long HIGHEST = 1L << 47;

  /** What was found of one kind of engine: where the pointer is, and registers behind it. */
  private record Known(int pointer, Map<Integer, Integer> offsets) {
    boolean hasAll(int[] ids) {
      return IntStream.of(ids).allMatch(offsets::containsKey);
    }

    /** Cards of one kind of engine name different registers. */
    Known and(Known other) {
      if (pointer != other.pointer) {
        return other;
      }
      Map<Integer, Integer> all = new HashMap<>(offsets);
      all.putAll(other.offsets);
      return new Known(other.pointer, all);
    }
  }

  private static final Map<Long, Known> KNOWN = new ConcurrentHashMap<>();

  private final Unicorn engine;
  private final long uc;
  private final int bytes;
  private final int[] ids;
  private final FileChannel memory;
  private final SplittableRandom random = new SplittableRandom();
  private final long[] patterns;

  private RegisterStorage(Unicorn engine, long uc, int bytes, int[] ids, FileChannel memory) {
    this.engine = engine;
    this.uc = uc;
    this.bytes = bytes;
    this.ids = ids;
    this.memory = memory;
    patterns = new long[ids.length];
    nextPatterns();
  }

  /**
   * Host addresses of registers; empty where they cannot be known.
   *
   * @param kind of engine: all of one kind have one layout
   * @param bytes of a register, 4 or 8, in the host's byte order
   * @param ids two at least
   */
  static Optional<long[]> locate(Unicorn engine, long uc, long kind, int bytes, int... ids) {
    if (ids.length < 2 || ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
      return Optional.empty();
    }
    long[] before = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      before[i] = engine.reg_read(ids[i]);
    }
    try (FileChannel memory = FileChannel.open(Path.of("/proc/self/mem"))) {
      return new RegisterStorage(engine, uc, bytes, ids, memory).locate(kind);
    } catch (IOException | UnicornException e) {
      return Optional.empty(); // not this system, or a register that cannot be written
    } finally {
      for (int i = 0; i < ids.length; i++) {
        engine.reg_write(ids[i], before[i]);
      }
    }
  }

  private Optional<long[]> locate(long kind) throws IOException {
    Known known = KNOWN.get(kind);
    if (known == null || !known.hasAll(ids)) {
      known = whereOthersHaveIt();
    }
    Optional<long[]> places = known == null ? Optional.empty() : places(known);
    if (places.isEmpty()) {
      known = search();
      places = known == null ? Optional.empty() : places(known);
    }
    if (places.isPresent()) {
      KNOWN.merge(kind, known, Known::and);
    }
    return places;
  }

  private Optional<long[]> places(Known known) throws IOException {
    long object = word(uc + known.pointer);
    long[] places = new long[ids.length];
    for (int i = 0; i < ids.length; i++) {
      places[i] = object + known.offsets.get(ids[i]);
    }
    for (int round = 0; round < ROUNDS; round++) {
      for (int last = 0; last < 2; last++) {
        writePatterns(last);
        for (int i = 0; i < ids.length; i++) {
          if (!holds(places[i], i)) {
            return Optional.empty();
          }
        }
      }
      nextPatterns();
    }
    return tellWhatIsStored(places) ? Optional.of(places) : Optional.empty();
  }

  private boolean tellWhatIsStored(long[] places) {
    for (int i = 0; i < ids.length; i++) {
      store(places[i], patterns[i]);
    }
    for (int i = 0; i < ids.length; i++) {
      if (engine.reg_read(ids[i]) != patterns[i]) {
        return false;
      }
    }
    return true;
  }

  /** All kinds of one library have the pointer in one place; a whole search takes 50 ms. */
  private Known whereOthersHaveIt() throws IOException {
    writePatterns(0);
    for (int pointer : KNOWN.values().stream().mapToInt(Known::pointer).distinct().toArray()) {
      Map<Integer, Integer> offsets = following(word(uc + pointer));
      if (offsets.size() == ids.length) {
        return new Known(pointer, offsets);
      }
    }
    return null;
  }

  /** The nearest pointer is the one to the object itself, not to one that lies below it. */
  private Known search() throws IOException {
    writePatterns(0);
    ByteBuffer structure = read(uc, STRUCTURE);
    Known nearest = null;
    int least = Integer.MAX_VALUE;
    for (int at = 0; at + Long.BYTES <= structure.limit(); at += Long.BYTES) {
      long pointer = structure.getLong(at);
      if (pointer >= LOWEST && pointer < HIGHEST && pointer % Long.BYTES == 0) {
        Map<Integer, Integer> offsets = following(pointer);
        if (offsets.size() == ids.length && Collections.max(offsets.values()) < least) {
          least = Collections.max(offsets.values());
          nearest = new Known(at, offsets);
        }
      }
    }
    return nearest;
  }

  /** The one place of each register that follows all it is set to; without those that have none. */
  private Map<Integer, Integer> following(long pointer) throws IOException {
    Map<Integer, List<Integer>> candidates = holding(read(pointer, OBJECT));
    for (int round = 0; round < ROUNDS && candidates.size() == ids.length; round++) {
      for (int last = 0; last < 2; last++) {
        writePatterns(last);
        for (int i = 0; i < ids.length; i++) {
          int register = i;
          candidates.get(ids[i]).removeIf(offset -> !holds(pointer + offset, register));
        }
      }
      nextPatterns();
    }
    writePatterns(0); // for the next pointer
    Map<Integer, Integer> offsets = new HashMap<>();
    candidates.forEach(
        (id, places) -> {
          if (places.size() == 1) {
            offsets.put(id, places.getFirst());
          }
        });
    return offsets;
  }

  /** Places that hold the pattern of each register; without the registers that have none. */
  private Map<Integer, List<Integer>> holding(ByteBuffer object) {
    Map<Integer, List<Integer>> found = new HashMap<>();
    long some = 0; // a filter with a bit for each pattern rules out most other words at once
    for (long pattern : patterns) {
      some |= 1L << (pattern >>> 4);
    }
    for (int at = 0; at + Long.BYTES <= object.limit(); at += bytes) {
      long value = value(object, at);
      if ((some >>> (value >>> 4) & 1) == 0) {
        continue;
      }
      for (int i = 0; i < ids.length; i++) {
        if (value == patterns[i]) {
          found.computeIfAbsent(ids[i], _ -> new ArrayList<>()).add(at);
        }
      }
    }
    return found;
  }

  private boolean holds(long place, int register) {
    try {
      ByteBuffer held = read(place, Long.BYTES);
      return held.limit() == Long.BYTES && value(held, 0) == patterns[register];
    } catch (IOException e) {
      return false; // nothing is there any more
    }
  }

  /** Sets all registers, and one of them once more. */
  private void writePatterns(int last) {
    for (int i = 0; i < ids.length; i++) {
      engine.reg_write(ids[i], patterns[i]);
    }
    engine.reg_write(ids[last], patterns[last]);
  }

  /** Numbers that are nowhere else in all likelihood; aligned as stack pointers are. */
  private void nextPatterns() {
    for (int i = 0; i < patterns.length; i++) {
      long any = random.nextLong();
      patterns[i] = bytes == Long.BYTES ? any & ~0xfL : any & 0x7fff_fff0L;
    }
  }

  private long value(ByteBuffer from, int at) {
    return bytes == Long.BYTES ? from.getLong(at) : Integer.toUnsignedLong(from.getInt(at));
  }

  @SuppressWarnings("restricted") // the place was shown to be the register's
  private void store(long place, long value) {
    MemorySegment to = MemorySegment.ofAddress(place).reinterpret(bytes);
    if (bytes == Long.BYTES) {
      to.set(ValueLayout.JAVA_LONG_UNALIGNED, 0, value);
    } else {
      to.set(ValueLayout.JAVA_INT_UNALIGNED, 0, (int) value);
    }
  }

  private long word(long address) throws IOException {
    ByteBuffer word = read(address, Long.BYTES);
    if (word.limit() < Long.BYTES) {
      throw new IOException("no memory at 0x%x".formatted(address));
    }
    return word.getLong(0);
  }

  /** As much as there is, from an address on. */
  private ByteBuffer read(long address, int size) throws IOException {
    ByteBuffer to = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
    try {
      while (to.hasRemaining() && memory.read(to, address + to.position()) > 0) {}
    } catch (IOException e) {
      if (to.position() == 0 && size == Long.BYTES) {
        throw e;
      }
    }
    return to.flip();
  }
}
