package dev.retstack.graph.places;

import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.limits.StateBudget;
import dev.retstack.graph.snapshot.ByteInput;
import dev.retstack.graph.snapshot.ByteOutput;
import dev.retstack.graph.snapshot.Fields;
import dev.retstack.graph.snapshot.StateChanges;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Where the chunks of one core stand in the log, in a bounded number of bytes.
 *
 * <p>A {@link Place} has chunks within less than {@code spread} offsets. Where there are too many
 * places, those before the log's first offset go; if that is not enough, {@code spread} doubles,
 * and places that are then one are joined, until half as many bytes are left. So places lie evenly
 * over the log that is still there: an old window costs what a new one does.
 *
 * <p>Places are packed in blocks. A full block does not change until places are joined: a
 * checkpoint writes only the last one.
 */
final class CorePlaces {
  /** Offsets of one place at first: the records of so few are read in one fetch anyway. */
  static final long SPREAD_MIN = 16;

  /** Bytes at which a block is full. */
  static final int BLOCK_BYTES = 512;

  /** Blocks of one core at most: some 2,500 places. */
  static final int BLOCKS_MAX = 64;

  private static final int BLOCK_MIN = 64;

  /** Varints of six fields. */
  private static final int PLACE_BYTES_MAX = 60;

  /** This object, its list, its key, and the entries of the tables that have it. */
  private static final int OBJECT_BYTES = 400;

  /** Header, alignment, and the reference to an array in a list that has room for more. */
  private static final int ARRAY_BYTES = 16 + 8 + 8;

  private final CoreKey key;
  private final long number;
  private final StateBudget.Account account;
  private final List<byte[]> full = new ArrayList<>(2);

  /** The block that is not full yet, and how many bytes of it are used. */
  private byte[] open = new byte[BLOCK_MIN];

  private int used;

  /** The last one that is in a block. */
  private Place packed = Place.NONE;

  /** The last one, which may still grow and is in no block; null where there is none. */
  private Place last;

  private long spread = SPREAD_MIN;
  private long taken;

  /** Blocks that the log has, and the first of them that is another now. */
  private int written;

  private int changed;

  CorePlaces(CoreKey key, long number, StateBudget.Account account) {
    this.key = key;
    this.number = number;
    this.account = account;
  }

  CoreKey key() {
    return key;
  }

  /** Bytes of the heap that a new one takes. */
  static long bytesOfNew(CoreKey key) {
    return OBJECT_BYTES + 2L * (key.session().length() + key.core().length()) + BLOCK_MIN;
  }

  /** Bytes of the heap. */
  long bytes() {
    long bytes = bytesOfNew(key) - BLOCK_MIN + open.length;
    for (byte[] block : full) {
      bytes += block.length + ARRAY_BYTES;
    }
    return bytes;
  }

  /** The account pays for what is held now. */
  void charge() {
    long now = bytes();
    account.charge(now - taken);
    taken = now;
  }

  /** What was paid is given back. */
  void close() {
    account.give(taken);
    taken = 0;
  }

  /**
   * Adds a chunk of the core, which stands behind all others.
   *
   * @param logStart first offset that the log still has, as far as that is known
   */
  void add(Place chunk, long logStart) {
    if (last == null) {
      last = chunk;
    } else if (chunk.offset() <= last.lastOffset()) {
      return; // it is there already
    } else if (chunk.offset() - last.offset() < spread) {
      last = last.and(chunk);
    } else {
      if (!hasRoom()) {
        thinOut(logStart);
      }
      if (hasRoom() && chunk.offset() - last.offset() >= spread) {
        pack(last);
        last = chunk;
      } else {
        last = last.and(chunk); // coarse, but right
      }
    }
    changed = Math.min(changed, full.size());
  }

  /** Whether one more place has room, within the bound and on the account. */
  private boolean hasRoom() {
    return full.size() < BLOCKS_MAX
        && (open.length - used >= PLACE_BYTES_MAX
            || account.fits(larger() + BLOCK_BYTES + ARRAY_BYTES));
  }

  /** Bytes of the block that is not full where it gets room for another place. */
  private int larger() {
    return Math.min(2 * open.length, BLOCK_BYTES + PLACE_BYTES_MAX);
  }

  private void pack(Place place) {
    if (open.length - used < PLACE_BYTES_MAX) {
      open = Arrays.copyOf(open, larger());
    }
    used = write(open, used, place, used == 0 ? Place.NONE : packed);
    packed = place;
    if (used >= BLOCK_BYTES) {
      full.add(Arrays.copyOf(open, used));
      open = new byte[BLOCK_MIN];
      used = 0;
    }
    charge();
  }

  // differences wrap around, as times may be anywhere in 64 bits
  private static int write(byte[] to, int from, Place place, Place before) {
    int at = varint(to, from, place.offset() - before.lastOffset());
    at = varint(to, at, (place.lastOffset() - place.offset()) << 1 | (place.keyframe() ? 1 : 0));
    at = varint(to, at, zigzag(place.sequence() - before.sequence()));
    at = varint(to, at, zigzag(place.recordsBefore() - before.recordsBefore()));
    at = varint(to, at, zigzag(place.firstTime() - before.lastTime()));
    return varint(to, at, place.lastTime() - place.firstTime());
  }

  /** As {@link Fields#writeVarint}; returns the index behind it. */
  private static int varint(byte[] to, int from, long number) {
    int at = from;
    long rest = number;
    while (rest >>> 7 != 0) {
      to[at++] = (byte) (rest | 0x80);
      rest >>>= 7;
    }
    to[at++] = (byte) rest;
    return at;
  }

  private static Place read(ByteInput in, Place before) throws IOException {
    long offset = before.lastOffset() + Fields.readVarint(in);
    long reach = Fields.readVarint(in);
    long sequence = before.sequence() + unzigzag(Fields.readVarint(in));
    long records = before.recordsBefore() + unzigzag(Fields.readVarint(in));
    long first = before.lastTime() + unzigzag(Fields.readVarint(in));
    long lastTime = first + Fields.readVarint(in);
    return new Place(
        offset, offset + (reach >>> 1), sequence, records, first, lastTime, (reach & 1) != 0);
  }

  private static long zigzag(long number) {
    return number << 1 ^ number >> 63;
  }

  private static long unzigzag(long number) {
    return number >>> 1 ^ -(number & 1);
  }

  private void thinOut(long logStart) {
    List<Place> places = list();
    int all = places.size();
    places.removeIf(place -> place.lastOffset() < logStart && !place.equals(last));
    if (places.size() <= all / 2) {
      spread = Math.max(SPREAD_MIN, spread / 2); // what comes now may lie closer
    }
    while (places.size() > Math.max(1, all / 2)) {
      spread *= 2;
      List<Place> joined = new ArrayList<>();
      for (Place place : places) {
        if (!joined.isEmpty() && place.lastOffset() - joined.getLast().offset() < spread) {
          joined.add(joined.removeLast().and(place));
        } else {
          joined.add(place);
        }
      }
      places = joined;
    }
    setTo(places);
  }

  private void setTo(List<Place> places) {
    full.clear();
    open = new byte[BLOCK_MIN];
    used = 0;
    packed = Place.NONE;
    places.subList(0, places.size() - 1).forEach(this::pack);
    last = places.getLast();
    changed = 0;
    charge();
  }

  /** All places, in the order of the log. */
  List<Place> list() {
    List<Place> places = new ArrayList<>();
    try {
      for (byte[] block : full) {
        addAll(places, new ByteInput(block));
      }
      addAll(places, new ByteInput(open, 0, used));
    } catch (IOException e) {
      throw new UncheckedIOException("places that were just written", e);
    }
    if (last != null) {
      places.add(last);
    }
    return places;
  }

  private static void addAll(List<Place> places, ByteInput in) throws IOException {
    Place before = Place.NONE;
    while (in.remaining() > 0) {
      before = read(in, before);
      places.add(before);
    }
  }

  /** Offsets of which chunks are one place at most. */
  long spread() {
    return spread;
  }

  /**
   * Puts the blocks that changed since this was called last.
   *
   * @param prefix of the keys of all blocks
   */
  void writeChanges(StateChanges to, String prefix) throws IOException {
    int blocks = full.size() + 1;
    for (int block = changed; block < blocks; block++) {
      ByteOutput out = new ByteOutput(2 * BLOCK_BYTES);
      Fields.writeText(out, key.session());
      Fields.writeText(out, key.core());
      out.writeLong(spread);
      out.writeInt(block);
      boolean isLast = block == blocks - 1;
      out.writeBoolean(isLast);
      if (isLast) {
        byte[] end = new byte[PLACE_BYTES_MAX];
        out.write(open, 0, used);
        out.write(end, 0, write(end, 0, last, used == 0 ? Place.NONE : packed));
      } else {
        out.write(full.get(block));
      }
      to.put(prefix + number + "/" + block, out.take());
    }
    removeFrom(blocks, to, prefix);
    written = blocks;
    changed = full.size();
  }

  /** Removes the blocks that the log has. */
  void removeAll(StateChanges to, String prefix) {
    removeFrom(0, to, prefix);
  }

  private void removeFrom(int first, StateChanges to, String prefix) {
    for (int block = first; block < written; block++) {
      to.remove(prefix + number + "/" + block);
    }
  }

  /**
   * Reads what {@link #writeChanges} put.
   *
   * @param blocks in their order
   * @throws IOException where they are not the blocks of one core
   */
  static CorePlaces readFrom(List<byte[]> blocks, long number, StateBudget.Account account)
      throws IOException {
    CorePlaces core = null;
    List<Place> places = new ArrayList<>();
    long spread = SPREAD_MIN;
    for (int i = 0; i < blocks.size(); i++) {
      ByteInput in = new ByteInput(blocks.get(i));
      CoreKey key = new CoreKey(Fields.readText(in), Fields.readText(in));
      core = core == null ? new CorePlaces(key, number, account) : core;
      long ofBlock = in.readLong();
      spread = i == 0 ? ofBlock : spread;
      int block = in.readInt();
      boolean isLast = in.readBoolean();
      if (!key.equals(core.key)
          || block != i
          || isLast != (i == blocks.size() - 1)
          || ofBlock != spread
          || spread < SPREAD_MIN
          || in.remaining() > 2 * BLOCK_BYTES
          || in.remaining() == 0) {
        throw corrupt(number);
      }
      addAll(places, in);
    }
    if (core == null || blocks.size() > BLOCKS_MAX + 1) {
      throw corrupt(number);
    }
    for (int i = 0; i < places.size(); i++) {
      Place place = places.get(i);
      if (place.offset() < 0
          || place.lastOffset() < place.offset()
          || (i > 0 && place.offset() <= places.get(i - 1).lastOffset())) {
        throw corrupt(number);
      }
    }
    core.spread = spread;
    core.setTo(places);
    core.written = blocks.size();
    core.changed = core.full.size() + 1 == blocks.size() ? core.full.size() : 0;
    return core;
  }

  private static IOException corrupt(long number) {
    return new IOException("corrupt state: places of core " + number);
  }
}
