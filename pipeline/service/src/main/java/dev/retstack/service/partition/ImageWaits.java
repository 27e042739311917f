package dev.retstack.service.partition;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/**
 * Cores of one partition that wait for their image, and the offsets of their chunks, in order. Part
 * of the checkpoint: the next offset passes what waits here. Records are kept while there is room;
 * others are read again from their offsets once the image has come.
 */
final class ImageWaits {
  /** What a core, and what each of its chunks costs beside names and records. */
  private static final int CORE_BYTES = 256;

  private static final int CHUNK_BYTES = 64;

  /** Part of the room that is freed where it is full. */
  private static final int FREED = 8;

  /** Chunks taken up at a time. */
  private static final int BATCH = 64;

  /** Images that are named where somebody asks, and how much of each name. */
  private static final int NAMED = 3;

  private static final int NAME_MAX = 100;

  private static final int CORES_MAX = 1 << 20;
  private static final int CHUNKS_MAX = 1 << 24;

  private static final class Core {
    final ArrayDeque<Long> offsets = new ArrayDeque<>();
    String image;

    /** Why its chunks are refused; null where they are not. */
    String refusal;

    long bytes(CoreKey key) {
      return CORE_BYTES + 2L * (key.session().length() + key.core().length() + image.length());
    }
  }

  private final long roomBytes;
  private final StateBudget.Account account;
  private final Map<CoreKey, Core> cores = new LinkedHashMap<>();
  private final Map<String, Set<CoreKey>> awaited = new LinkedHashMap<>();
  private final Set<CoreKey> ready = new LinkedHashSet<>();
  private final Map<Long, ConsumerRecord<byte[], byte[]>> kept = new HashMap<>();
  private long bytes;
  private long keptBytes;
  private int chunks;

  /**
   * Nothing waits.
   *
   * @param roomBytes for what is known of those that wait, and as much again for their records
   * @param account of which both are taken, within its share
   */
  ImageWaits(long roomBytes, StateBudget.Account account) {
    this.roomBytes = roomBytes;
    this.account = account;
  }

  /** Gives back to the budget what the waits held. */
  void close() {
    account.close();
  }

  private void take(long more) {
    bytes += more;
    account.charge(more);
  }

  private void give(long less) {
    bytes -= less;
    account.give(less);
  }

  boolean isEmpty() {
    return cores.isEmpty();
  }

  boolean has(CoreKey core) {
    return cores.containsKey(core);
  }

  /** Sessions of the cores that wait. */
  Set<String> sessions() {
    return cores.keySet().stream().map(CoreKey::session).collect(Collectors.toSet());
  }

  /** Chunks that wait. */
  int chunks() {
    return chunks;
  }

  /** Images that are waited for, in the order in which they were asked for. */
  Set<String> images() {
    return awaited.keySet();
  }

  /** For those who ask what waits. */
  StateCopy.Waiting waiting() {
    if (chunks == 0) {
      return StateCopy.Waiting.NONE;
    }
    String first =
        cores.values().stream()
            .map(core -> core.image)
            .distinct()
            .limit(NAMED)
            .map(name -> name.length() > NAME_MAX ? name.substring(0, NAME_MAX) + "..." : name)
            .collect(Collectors.joining(", "));
    int more = awaited.size() - NAMED;
    return new StateCopy.Waiting(
        chunks, more > 0 ? first + " and %,d more".formatted(more) : first);
  }

  /**
   * Adds a chunk of a core that waits.
   *
   * @param image for which it waits where none of its core does yet
   */
  void add(CoreKey key, String image, ConsumerRecord<byte[], byte[]> record) {
    Core core = cores.get(key);
    if (core == null) {
      core = new Core();
      core.image = image;
      cores.put(key, core);
      awaited.computeIfAbsent(image, _ -> new LinkedHashSet<>()).add(key);
      take(core.bytes(key));
    }
    core.offsets.add(record.offset());
    take(CHUNK_BYTES);
    chunks++;
    int size = Math.max(0, record.serializedValueSize());
    if (keptBytes + size <= roomBytes && account.take(size)) {
      kept.put(record.offset(), record);
      keptBytes += size;
    }
  }

  /** Whether some have to be {@link #giveUp given up}. */
  boolean isFull() {
    if (account.room() < 0) { // of what waits, records are the part that can be read again
      account.give(keptBytes);
      keptBytes = 0;
      kept.clear();
    }
    return bytes > room() && ready.isEmpty();
  }

  /** For names and offsets. */
  private long room() {
    return Math.max(0, Math.min(roomBytes, bytes + account.room()));
  }

  /**
   * Gives up the images that were asked for first, until an eighth of the room is free. New ones
   * are kept: their images are likely to be in the topic and known soon.
   *
   * @return their names
   */
  List<String> giveUp(String refusal) {
    List<String> given = new ArrayList<>();
    long over = bytes - room() / FREED * (FREED - 1);
    for (Map.Entry<String, Set<CoreKey>> oldest : awaited.entrySet()) {
      if (over <= 0) {
        break;
      }
      given.add(oldest.getKey());
      for (CoreKey key : oldest.getValue()) {
        Core core = cores.get(key);
        over -= core.bytes(key) + (long) CHUNK_BYTES * core.offsets.size();
      }
    }
    given.forEach(image -> answered(image, refusal));
    return given;
  }

  /**
   * The image of these cores has come.
   *
   * @param refusal why their chunks are refused all the same; null where they are not
   */
  void answered(String image, String refusal) {
    Set<CoreKey> those = awaited.remove(image);
    if (those != null) {
      those.forEach(key -> cores.get(key).refusal = refusal);
      ready.addAll(those);
    }
  }

  /** Offsets of the next chunks whose wait is over, ascending; none where all others wait. */
  long[] next() {
    List<Long> offsets = new ArrayList<>();
    for (CoreKey key : ready) {
      cores.get(key).offsets.stream().limit(BATCH - offsets.size()).forEach(offsets::add);
      if (offsets.size() >= BATCH) {
        break;
      }
    }
    return offsets.stream().mapToLong(Long::longValue).sorted().toArray();
  }

  /** These records as they were kept; null where one was not. */
  List<ConsumerRecord<byte[], byte[]>> kept(long[] offsets) {
    List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
    for (long offset : offsets) {
      records.add(kept.get(offset));
    }
    return records.contains(null) ? null : records;
  }

  /** Whether a core waited, and its image has come, or was given up. */
  boolean isOver(CoreKey core) {
    return ready.contains(core);
  }

  /** The image for which this core waited. */
  String image(CoreKey key) {
    return cores.get(key).image;
  }

  /** Why chunks of this core, whose wait is over, are refused; null where they are not. */
  String refusal(CoreKey key) {
    return cores.get(key).refusal;
  }

  /** The first chunk of a core whose wait was over needs an image that is not there after all. */
  void again(CoreKey key, String image) {
    Core core = cores.get(key);
    give(core.bytes(key));
    core.image = image;
    take(core.bytes(key));
    ready.remove(key);
    awaited.computeIfAbsent(image, _ -> new LinkedHashSet<>()).add(key);
  }

  /** The first chunk of this core is done with. */
  void done(CoreKey key) {
    Core core = cores.get(key);
    forget(core.offsets.poll());
    if (core.offsets.isEmpty()) {
      gone(key, core);
    }
  }

  /** Chunks whose wait is over that are in the topic no longer; returns how many. */
  int missing(Set<Long> offsets) {
    int before = chunks;
    for (CoreKey key : List.copyOf(ready)) {
      Core core = cores.get(key);
      Set<Long> own = new HashSet<>(core.offsets);
      own.retainAll(offsets);
      core.offsets.removeAll(own);
      own.forEach(this::forget);
      if (core.offsets.isEmpty()) {
        gone(key, core);
      }
    }
    return before - chunks;
  }

  private void forget(long offset) {
    chunks--;
    give(CHUNK_BYTES);
    ConsumerRecord<byte[], byte[]> record = kept.remove(offset);
    if (record != null) {
      keptBytes -= Math.max(0, record.serializedValueSize());
      account.give(Math.max(0, record.serializedValueSize()));
    }
  }

  private void gone(CoreKey key, Core core) {
    cores.remove(key);
    ready.remove(key);
    give(core.bytes(key));
  }

  /** Writes which chunks wait. */
  void writeTo(DataOutput out) throws IOException {
    out.writeInt(cores.size());
    for (Map.Entry<CoreKey, Core> one : cores.entrySet()) {
      Fields.writeText(out, one.getKey().session());
      Fields.writeText(out, one.getKey().core());
      Fields.writeText(out, one.getValue().image);
      out.writeInt(one.getValue().offsets.size());
      for (long offset : one.getValue().offsets) {
        Fields.writeVarint(out, offset);
      }
    }
  }

  /** Reads what {@link #writeTo} wrote; all images are waited for again. */
  static ImageWaits readFrom(DataInput in, long roomBytes, StateBudget.Account account)
      throws IOException {
    ImageWaits waits = new ImageWaits(roomBytes, account);
    int count = Fields.readCount(in, CORES_MAX, "cores that wait for an image");
    for (int i = 0; i < count; i++) {
      CoreKey key = new CoreKey(Fields.readText(in), Fields.readText(in));
      Core core = new Core();
      core.image = Fields.readText(in);
      int offsets = Fields.readCount(in, CHUNKS_MAX, "chunks that wait for an image");
      for (int k = 0; k < offsets; k++) {
        core.offsets.add(Fields.readVarint(in));
      }
      if (offsets == 0 || waits.cores.put(key, core) != null) {
        throw new IOException("corrupt checkpoint: core %s waits twice".formatted(key.core()));
      }
      waits.awaited.computeIfAbsent(core.image, _ -> new LinkedHashSet<>()).add(key);
      waits.chunks += offsets;
      waits.take(core.bytes(key) + (long) CHUNK_BYTES * offsets);
    }
    return waits;
  }
}
