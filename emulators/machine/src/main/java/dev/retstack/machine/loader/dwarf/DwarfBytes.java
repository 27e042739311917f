package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFormatException;

/** Reads a section of debug information, never behind the end of the unit that is read. */
final class DwarfBytes {
  private static final int LEB_BITS_MAX = 70;

  private final byte[] bytes;
  private final boolean bigEndian;
  private final String file;
  private final String section;
  private final String cure;
  private int at;
  private int end;

  /**
   * @param bytes of the whole section
   * @param file name of the image, for messages
   * @param cure what a message says last
   */
  DwarfBytes(byte[] bytes, boolean bigEndian, String file, String section, String cure) {
    this.bytes = bytes;
    this.bigEndian = bigEndian;
    this.file = file;
    this.section = section;
    this.cure = cure;
    this.end = bytes.length;
  }

  int at() {
    return at;
  }

  /** Bytes of the whole section. */
  int length() {
    return bytes.length;
  }

  boolean more() {
    return at < end;
  }

  /** Bytes up to the end of what is read. */
  int left() {
    return end - at;
  }

  /** Nothing behind the next {@code length} bytes is read. */
  void limit(long length, String field) throws ElfFormatException {
    end = at + within(length, field);
  }

  /** Reads on at one place, up to another; both lie in the section. */
  void seek(int place, int last) {
    at = place;
    end = last;
  }

  /** The unit is read: what follows is behind it. */
  void nextUnit() {
    at = end;
    end = bytes.length;
  }

  void skip(long count, String field) throws ElfFormatException {
    at += within(count, field);
  }

  /** Moves ahead to a place; never back, and never behind the end. */
  void skipTo(long place) {
    if (place > at && place <= end) {
      at = (int) place;
    }
  }

  /** The number of some bytes that was read last. */
  long numberBefore(int count) throws ElfFormatException {
    at -= count;
    return number(count);
  }

  private int within(long count, String field) throws ElfFormatException {
    if (count < 0 || count > end - at) {
      throw refuse(
          field, Long.toUnsignedString(count) + " bytes", "at most %d there".formatted(end - at));
    }
    return (int) count;
  }

  /** An unsigned number of variable length, mostly one byte. */
  long unsigned() throws ElfFormatException {
    return at < end && bytes[at] >= 0 ? bytes[at++] : longUnsigned();
  }

  int u8() throws ElfFormatException {
    if (at == end) {
      throw refuse("a table", "cut off", "a whole one");
    }
    return bytes[at++] & 0xFF;
  }

  int u16() throws ElfFormatException {
    return (int) number(2);
  }

  long u32() throws ElfFormatException {
    return number(4);
  }

  /** An unsigned number of {@code count} bytes, 8 at most. */
  long number(int count) throws ElfFormatException {
    within(count, "a number");
    long number = 0;
    for (int i = 0; i < count; i++) {
      long b = bytes[at + i] & 0xFF;
      number |= b << (Byte.SIZE * (bigEndian ? count - 1 - i : i));
    }
    at += count;
    return number;
  }

  /** An unsigned LEB128 number of any length; bits above the 64th are dropped. */
  private long longUnsigned() throws ElfFormatException {
    long number = 0;
    for (int shift = 0; ; shift += 7) {
      int b = u8();
      number |= shift < Long.SIZE ? (b & 0x7FL) << shift : 0;
      if (b < 0x80) {
        return number;
      }
      refuseLong(shift);
    }
  }

  /** A signed number of variable length. */
  long signed() throws ElfFormatException {
    long number = 0;
    for (int shift = 0; ; ) {
      int b = u8();
      number |= shift < Long.SIZE ? (b & 0x7FL) << shift : 0;
      shift += 7;
      if (b < 0x80) {
        return shift < Long.SIZE && (b & 0x40) != 0 ? number | (-1L << shift) : number;
      }
      refuseLong(shift);
    }
  }

  private void refuseLong(int shift) throws ElfFormatException {
    if (shift >= LEB_BITS_MAX) {
      throw refuse("a number", "of more than 10 bytes", "64 bits");
    }
  }

  /** Passes a text that ends with a zero, and says where it begins. */
  int text() throws ElfFormatException {
    int start = at;
    while (at < end && bytes[at] != 0) {
      at++;
    }
    if (at == end) {
      throw refuse("a name", "without an end", "a zero behind it");
    }
    at++;
    return start;
  }

  ElfFormatException refuse(String field, String value, String allowed) {
    return new ElfFormatException(
        file, "%s of %s at 0x%x".formatted(field, section, at), value, allowed, cure);
  }
}
