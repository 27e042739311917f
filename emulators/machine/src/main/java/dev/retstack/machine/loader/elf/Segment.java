package dev.retstack.machine.loader.elf;

import java.nio.ByteBuffer;

/**
 * A piece of the program in memory (PT_LOAD).
 *
 * @param address first byte, where it is loaded
 * @param memoryBytes size in memory; what the file does not fill is zero
 * @param data the bytes that the file gives, at most {@code memoryBytes}; read-only
 * @param readable may be read
 * @param writable may be written
 * @param executable may be executed
 */
public record Segment(
    long address,
    long memoryBytes,
    ByteBuffer data,
    boolean readable,
    boolean writable,
    boolean executable) {

  /** End of the segment: one past its last byte. */
  public long end() {
    return address + memoryBytes;
  }

  /** What is left of it from an address on, behind all that the file gives. */
  Segment from(long start) {
    ByteBuffer none = data.slice(0, 0).order(data.order());
    return new Segment(start, end() - start, none, readable, writable, executable);
  }

  /** True where both have a byte at one address. */
  boolean overlaps(Segment other) {
    return Long.compareUnsigned(address, other.end()) < 0
        && Long.compareUnsigned(other.address, end()) < 0;
  }

  /** True where all {@code length} bytes from {@code from} on lie in this segment. */
  public boolean contains(long from, long length) {
    long offset = from - address;
    return Long.compareUnsigned(offset, memoryBytes) <= 0
        && length >= 0
        && Long.compareUnsigned(length, memoryBytes - offset) <= 0;
  }

  /** Permissions as in a memory map: {@code r-x}. */
  public String permissions() {
    return (readable ? "r" : "-") + (writable ? "w" : "-") + (executable ? "x" : "-");
  }

  /** A fresh view of the bytes that the file gives, in the guest's byte order. */
  @Override
  public ByteBuffer data() {
    return data.duplicate().order(data.order());
  }

  @Override
  public String toString() {
    return "0x%x-0x%x %s".formatted(address, end(), permissions());
  }
}
