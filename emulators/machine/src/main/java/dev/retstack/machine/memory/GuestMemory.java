package dev.retstack.machine.memory;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_INT_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;
import static java.lang.foreign.ValueLayout.JAVA_SHORT_UNALIGNED;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;

/**
 * The memory of one core: pages of host memory at guest addresses, with permissions per page.
 *
 * <p>Addresses are unsigned 64-bit numbers. The host may read and write every mapped page whatever
 * the guest may do there; an access that is not wholly mapped throws {@link GuestAccessException}
 * and changes nothing. Words are in the byte order of the guest. One thread at a time.
 */
public final class GuestMemory implements AutoCloseable {
  public static final int PAGE_BITS = 12;
  public static final int PAGE = 1 << PAGE_BITS;

  /** Page permissions; the same bits as Unicorn's. */
  public static final int READ = 1;

  public static final int WRITE = 2;
  public static final int EXECUTE = 4;

  /** Most bytes of one mapping: the limit of what a hostile image can ask for at a time. */
  public static final long MAX_MAPPING_BYTES = 4L << 30;

  private final int wordBytes;
  private final ByteOrder order;
  private final boolean swap;
  private final MemoryListener listener;

  /** Sorted by unsigned start, never overlapping. */
  private final List<Region> regions = new ArrayList<>();

  private Region last;

  /** Behind all mappings in one range of addresses; null: none is reserved. */
  private Region.Backing reserve;

  private int inReserve;

  /** {@link #mappingCount}. */
  private int mappings;

  /** From here on {@link #searchedTo} counts: the highest place that a search began at. */
  private long searchedFrom;

  /** For each power of two: no gap of that many pages begins below; 0: not known. */
  private final long[] searchedTo = new long[Long.SIZE];

  /**
   * Empty memory.
   *
   * @param wordBytes bytes of an address of the guest, 4 or 8
   */
  public GuestMemory(int wordBytes, ByteOrder order, MemoryListener listener) {
    if (wordBytes != 4 && wordBytes != 8) {
      throw new IllegalArgumentException("word of " + wordBytes + " bytes: 4 or 8");
    }
    this.wordBytes = wordBytes;
    this.order = order;
    this.swap = order != ByteOrder.nativeOrder();
    this.listener = listener;
  }

  /** Bytes of an address of the guest. */
  public int wordBytes() {
    return wordBytes;
  }

  /** Byte order of the guest. */
  public ByteOrder order() {
    return order;
  }

  /** The first page boundary at or above an address. */
  public static long pageUp(long address) {
    return (address + PAGE - 1) & -PAGE;
  }

  /** The last page boundary at or below an address. */
  public static long pageDown(long address) {
    return address & -PAGE;
  }

  /**
   * Maps zeroed pages.
   *
   * @param address page boundary
   * @param size multiple of {@link #PAGE}, at most {@link #MAX_MAPPING_BYTES}
   * @throws IllegalArgumentException when the range is not such, or a page of it is mapped already
   */
  public void map(long address, long size, int perms) {
    Region.checkPages(address, size);
    if (overlaps(address, size)) {
      throw new IllegalArgumentException(
          "guest memory [0x%x, +0x%x) is mapped already".formatted(address, size));
    }
    boolean reserved = isReserved(address);
    long inside = beforeSeam(address, size);
    if (inside < size) {
      map(address, inside, perms);
      map(address + inside, size - inside, perms);
      return;
    }
    Region region =
        reserved ? reserve.region(address, size, perms) : Region.allocate(address, size, perms);
    try {
      if (reserved) {
        listener.shown(address, size, (perms & EXECUTE) != 0);
        inReserve++;
      } else {
        listener.mapped(address, region.host);
      }
    } catch (RuntimeException e) {
      region.release();
      throw e;
    }
    regions.add(indexAbove(address), region);
    mappings++;
  }

  /**
   * Has all mappings in a range be one region of the engine, for which a change of them costs
   * nothing. Where the host has no room for it, each is one, as elsewhere. Once.
   *
   * @param address page boundary; nothing may be mapped in the range
   */
  public void reserve(long address, long size) {
    if (reserve != null || overlaps(address, size)) {
      throw new IllegalArgumentException("a reserve at 0x%x".formatted(address));
    }
    Region.Backing.reserve(address, size)
        .ifPresent(
            backing -> {
              listener.mapped(address, backing.host);
              reserve = backing;
            });
  }

  /** True in the range that was reserved, whether something is mapped there or not. */
  public boolean isReserved(long address) {
    return reserve != null && reserve.contains(address);
  }

  /** How much of a range is wholly in the reserve or wholly outside. */
  private long beforeSeam(long address, long size) {
    if (reserve == null) {
      return size;
    }
    long toStart = reserve.start - address;
    long toEnd = toStart + reserve.host.byteSize();
    long inside = Long.compareUnsigned(toStart - 1, size) < 0 ? toStart : size;
    return Long.compareUnsigned(toEnd - 1, inside) < 0 ? toEnd : inside;
  }

  /** Unmaps all mapped pages of a range; the others are left alone, as munmap does. */
  public void unmap(long address, long size) {
    Region.checkPages(address, size);
    for (int i = indexAbove(address + size - 1) - 1; i >= 0; i--) {
      Region region = regions.get(i);
      if (!region.intersects(address, size)) {
        break;
      }
      long from = region.from(address);
      long to = region.to(address + size);
      mappings += moreWithout(region, from, to);
      boolean reserved = region.isOf(reserve);
      if (reserved) {
        hide(region, from, to);
        inReserve += morePieces(region, from, to);
      } else {
        listener.unmapped(from, to - from);
      }
      searchAgainBehind(i);
      last = null; // not before: the listener may look pages up
      List<Region> rest = regions.subList(i, i + 1);
      rest.clear();
      if (to != region.end()) {
        rest.add(region.part(to, region.end()));
      }
      if (from != region.start) {
        rest.addFirst(region.part(region.start, from));
      }
      region.release();
    }
  }

  /**
   * Changes the permissions of a range.
   *
   * @throws GuestAccessException when a page of it is not mapped; then none is changed
   */
  public void protect(long address, long size, int perms) {
    Region.checkPages(address, size);
    if (!isMapped(address, size)) {
      throw new GuestAccessException(address, size);
    }
    mappings += moreProtected(address, size, perms);
    for (long at = address; at != address + size; ) {
      Region region = find(at);
      long to = region.to(address + size);
      region.protect(at, to, perms);
      at = to;
    }
    listener.protectionChanged(address, size);
  }

  /** True for a range that is a part of one mapping in the reserve. */
  public boolean isWithinOne(long address, long size) {
    Region region = find(address);
    return region != null && region.isOf(reserve) && region.size - (address - region.start) >= size;
  }

  /** Maps zeroed pages in place of those {@linkplain #isWithinOne within one} mapping. */
  public void renew(long address, long size, int perms) {
    Region region = findOrThrow(address, size);
    mappings += moreProtected(address, size, perms);
    hide(region, address, address + size);
    region.protect(address, address + size, perms);
    listener.shown(address, size, (perms & EXECUTE) != 0);
  }

  private void hide(Region region, long from, long to) {
    listener.hidden(from, to - from, region.holdsCode(from, to - from));
    reserve.forget(from, to - from);
  }

  /**
   * How many mappings there are as Linux counts them: runs of pages with one set of permissions.
   */
  public int mappingCount() {
    return mappings;
  }

  /** How many regions of the engine they are. */
  public int engineRegions() {
    return regions.size() - inReserve + (reserve == null ? 0 : 1);
  }

  /** By how much {@link #mappingCount} grows where a mapped range gets permissions. */
  public int moreProtected(long address, long size, int perms) {
    return (int)
        sum(
            address,
            size,
            (region, from, to) -> region.edges(from, to, perms) - region.seams(from, to));
  }

  /** By how much it grows where a range is unmapped. */
  public int moreWithout(long address, long size) {
    return (int) sum(address, size, GuestMemory::moreWithout);
  }

  private static int moreWithout(Region region, long from, long to) {
    return morePieces(region, from, to) - region.seams(from, to);
  }

  /** How many more parts a region is without a range in it. */
  private static int morePieces(Region region, long from, long to) {
    return (from != region.start ? 1 : 0) + (to != region.end() ? 1 : 0) - 1;
  }

  /** A number of the part of a region that is in a range. */
  @FunctionalInterface
  private interface PartNumber {
    long of(Region region, long from, long to);
  }

  private long sum(long address, long size, PartNumber number) {
    long sum = 0;
    for (int i = indexAbove(address + size - 1) - 1; i >= 0; i--) {
      Region region = regions.get(i);
      if (!region.intersects(address, size)) {
        break;
      }
      sum += number.of(region, region.from(address), region.to(address + size));
    }
    return sum;
  }

  /** All mappings, sorted by unsigned address. */
  public List<Mapping> mappings() {
    return regions.stream().map(region -> new Mapping(region.start, region.host)).toList();
  }

  /** The mapping that holds an address. */
  public Optional<Mapping> mappingAt(long address) {
    return Optional.ofNullable(find(address)).map(region -> new Mapping(region.start, region.host));
  }

  /** The host memory behind all mappings, sorted by unsigned address. */
  public List<HostRange> hosts() {
    List<HostRange> hosts = new ArrayList<>();
    int reserveAt = reserve == null ? -1 : indexAbove(reserve.start - 1);
    for (int i = 0; i <= regions.size(); i++) {
      if (i == reserveAt) {
        hosts.add(new HostRange(reserve.start, reserve.host, reserve.pages));
        i += inReserve;
      }
      if (i < regions.size()) {
        hosts.add(new HostRange(regions.get(i).start, regions.get(i).host, MemorySegment.NULL));
      }
    }
    return hosts;
  }

  /**
   * The host memory behind a range within one mapping; it stays until the range is unmapped.
   *
   * @throws GuestAccessException where it is not mapped
   */
  public MemorySegment host(long address, long size) {
    return findOrThrow(address, size).hostOf(address, size);
  }

  /** True when every byte of the range is mapped. An empty range is. */
  public boolean isMapped(long address, long size) {
    long at = address;
    long left = size;
    while (left > 0) {
      Region region = find(at);
      if (region == null) {
        return false;
      }
      long here = Math.min(left, region.size - (at - region.start));
      at += here;
      left -= here;
    }
    return left == 0;
  }

  /** How many bytes of a range are mapped. */
  public long mappedBytes(long address, long size) {
    return sum(address, size, (_, from, to) -> to - from);
  }

  /** True when some byte of the range is mapped. */
  public boolean overlaps(long address, long size) {
    if (size == 0) {
      return find(address) != null;
    }
    int below = indexAbove(address + size - 1) - 1;
    return below >= 0 && regions.get(below).intersects(address, size);
  }

  /** Permissions of the page of an address; -1 where nothing is mapped. */
  public int permissionsAt(long address) {
    Region region = find(address);
    return region == null ? -1 : region.permissionsAt(address);
  }

  /**
   * The lowest free range of {@code size} bytes at or above {@code from}, on page boundaries and
   * with a free page on either side, or 0 where there is none below {@code limit}.
   */
  public long findFree(long from, long size, long limit) {
    if (Long.compareUnsigned(from, searchedFrom) > 0) {
      searchedFrom = from;
      Arrays.fill(searchedTo, 0);
    }
    int power = Long.SIZE - 1 - Long.numberOfLeadingZeros(Math.max(size >>> PAGE_BITS, 1));
    long small = (long) PAGE << power;
    boolean learns = from == searchedFrom;
    long at = learns && searchedTo[power] != 0 ? searchedTo[power] : pageUp(from);
    for (int i = Math.max(0, indexAbove(at) - 1); i < regions.size(); i++) {
      Region region = regions.get(i);
      if (learns && Long.compareUnsigned(at + small + PAGE, region.start) <= 0) {
        searchedTo[power] = at;
        learns = false;
      }
      if (Long.compareUnsigned(at + size + PAGE, region.start) <= 0) {
        break;
      }
      if (Long.compareUnsigned(region.end() + PAGE, at) > 0) {
        at = region.end() + PAGE;
      }
    }
    if (learns) {
      searchedTo[power] = at;
    }
    return Long.compareUnsigned(at + size, limit) <= 0 ? at : 0;
  }

  /** A gap may begin behind the mapping in front of a region that was removed. */
  private void searchAgainBehind(int index) {
    long from = index == 0 ? 0 : regions.get(index - 1).end();
    for (int i = 0; i < searchedTo.length; i++) {
      if (Long.compareUnsigned(searchedTo[i], from) > 0) {
        searchedTo[i] = Long.compareUnsigned(from, searchedFrom) > 0 ? from : 0;
      }
    }
  }

  public byte readByte(long address) {
    Region region = findOrThrow(address, 1);
    return region.host.get(JAVA_BYTE, address - region.start);
  }

  public short readShort(long address) {
    short value = MemorySegment.ofArray(read(address, 2)).get(JAVA_SHORT_UNALIGNED, 0);
    return swap ? Short.reverseBytes(value) : value;
  }

  public int readInt(long address) {
    Region region = find(address);
    if (region == null || region.size - (address - region.start) < 4) {
      byte[] bytes = read(address, 4);
      return swapped(MemorySegment.ofArray(bytes).get(JAVA_INT_UNALIGNED, 0));
    }
    return swapped(region.host.get(JAVA_INT_UNALIGNED, address - region.start));
  }

  public long readLong(long address) {
    Region region = find(address);
    if (region == null || region.size - (address - region.start) < 8) {
      byte[] bytes = read(address, 8);
      return swapped(MemorySegment.ofArray(bytes).get(JAVA_LONG_UNALIGNED, 0));
    }
    return swapped(region.host.get(JAVA_LONG_UNALIGNED, address - region.start));
  }

  /** An address-sized word, zero-extended. */
  public long readWord(long address) {
    return wordBytes == 8 ? readLong(address) : Integer.toUnsignedLong(readInt(address));
  }

  /**
   * A set of 64 bits in words of the ISA, the first of which has the lowest bits: a set of signals.
   */
  public long readSet(long address) {
    return wordBytes == Long.BYTES
        ? readLong(address)
        : ((long) readInt(address + Integer.BYTES) << 32) | (readInt(address) & 0xffff_ffffL);
  }

  /** Writes what {@link #readSet} reads. */
  public void writeSet(long address, long set) {
    if (wordBytes == Long.BYTES) {
      writeLong(address, set);
    } else {
      writeInt(address, (int) set);
      writeInt(address + Integer.BYTES, (int) (set >>> 32));
    }
  }

  public void writeByte(long address, byte value) {
    write(address, new byte[] {value});
  }

  public void writeShort(long address, short value) {
    byte[] bytes = new byte[2];
    MemorySegment.ofArray(bytes)
        .set(JAVA_SHORT_UNALIGNED, 0, swap ? Short.reverseBytes(value) : value);
    write(address, bytes);
  }

  public void writeInt(long address, int value) {
    Region region = find(address);
    if (region == null
        || region.size - (address - region.start) < 4
        || region.holdsCode(address, 4)) {
      byte[] bytes = new byte[4];
      MemorySegment.ofArray(bytes).set(JAVA_INT_UNALIGNED, 0, swapped(value));
      write(address, bytes);
      return;
    }
    region.host.set(JAVA_INT_UNALIGNED, address - region.start, swapped(value));
  }

  public void writeLong(long address, long value) {
    Region region = find(address);
    if (region == null
        || region.size - (address - region.start) < 8
        || region.holdsCode(address, 8)) {
      byte[] bytes = new byte[8];
      MemorySegment.ofArray(bytes).set(JAVA_LONG_UNALIGNED, 0, swapped(value));
      write(address, bytes);
      return;
    }
    region.host.set(JAVA_LONG_UNALIGNED, address - region.start, swapped(value));
  }

  /** Writes the low {@link #wordBytes()} bytes of a word. */
  public void writeWord(long address, long value) {
    if (wordBytes == 8) {
      writeLong(address, value);
    } else {
      writeInt(address, (int) value);
    }
  }

  /** Reads bytes. */
  public byte[] read(long address, int size) {
    checkMapped(address, size);
    byte[] bytes = new byte[size];
    copy(address, MemorySegment.ofArray(bytes), true);
    return bytes;
  }

  /** Up to eight bytes, the first one lowest; 0 for those that are not mapped. */
  public long code(long address) {
    if (isMapped(address, Long.BYTES)) {
      return ByteBuffer.wrap(read(address, Long.BYTES)).order(ByteOrder.LITTLE_ENDIAN).getLong();
    }
    long code = 0;
    for (int i = 0; i < Long.BYTES && isMapped(address + i, 1); i++) {
      code |= (read(address + i, 1)[0] & 0xffL) << (Byte.SIZE * i);
    }
    return code;
  }

  /** The instruction at an address, and what follows it, in hex: up to six bytes. */
  public String instructionHex(long address) {
    int bytes = 6;
    while (!isMapped(address, bytes)) {
      bytes -= 2;
    }
    return HexFormat.of().formatHex(read(address, bytes));
  }

  /** Writes bytes, and invalidates code of the engine. */
  public void write(long address, byte[] bytes) {
    write(address, MemorySegment.ofArray(bytes));
  }

  /** Writes bytes, and invalidates code of the engine. */
  public void write(long address, MemorySegment bytes) {
    checkMapped(address, bytes.byteSize());
    copy(address, bytes, false);
  }

  /**
   * Reads a zero-terminated string, UTF-8.
   *
   * @param limit most bytes to read, without the zero
   * @throws GuestAccessException when memory or {@code limit} ends before the string does
   */
  public String readString(long address, int limit) {
    int length = 0;
    while (readByte(address + length) != 0) {
      if (++length > limit) {
        throw new GuestAccessException(address, limit);
      }
    }
    return new String(read(address, length), StandardCharsets.UTF_8);
  }

  /** Gives the host memory back. The engine must be closed by then. */
  @Override
  public void close() {
    last = null;
    regions.forEach(Region::release);
    regions.clear();
    if (reserve != null) {
      reserve.release();
      reserve = null;
    }
  }

  /** The region that holds an address, or null. */
  Region find(long address) {
    Region hit = last;
    if (hit != null && hit.contains(address)) {
      return hit;
    }
    int below = indexAbove(address) - 1;
    if (below < 0 || !regions.get(below).contains(address)) {
      return null;
    }
    last = regions.get(below);
    return last;
  }

  private Region findOrThrow(long address, long size) {
    Region region = find(address);
    if (region == null) {
      throw new GuestAccessException(address, size);
    }
    return region;
  }

  /** Index of the first region that starts above an address. */
  private int indexAbove(long address) {
    int low = 0;
    int high = regions.size();
    while (low < high) {
      int middle = (low + high) >>> 1;
      if (Long.compareUnsigned(regions.get(middle).start, address) <= 0) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    return low;
  }

  private void copy(long address, MemorySegment bytes, boolean toHost) {
    long done = 0;
    while (done < bytes.byteSize()) {
      long at = address + done;
      Region region = findOrThrow(at, bytes.byteSize());
      long offset = at - region.start;
      long here = Math.min(bytes.byteSize() - done, region.size - offset);
      if (toHost) {
        MemorySegment.copy(region.host, offset, bytes, done, here);
      } else {
        MemorySegment.copy(bytes, done, region.host, offset, here);
        if (region.holdsCode(at, here)) {
          listener.codeChanged(at, here);
        }
      }
      done += here;
    }
  }

  private void checkMapped(long address, long size) {
    if (!isMapped(address, size)) {
      throw new GuestAccessException(address, size);
    }
  }

  private int swapped(int value) {
    return swap ? Integer.reverseBytes(value) : value;
  }

  private long swapped(long value) {
    return swap ? Long.reverseBytes(value) : value;
  }
}
