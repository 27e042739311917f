package dev.retstack.machine.loader.elf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** The bytes of a file behind bounds checks; offsets and sizes are unsigned 64-bit numbers. */
final class ElfBytes {
  private static final String CUT_OFF = "the file is cut off or damaged: build or copy it again";

  private final ByteBuffer bytes;
  private final String file;
  private final boolean is64;

  /**
   * @param bytes the whole file, its byte order set to the guest's
   * @param file name for messages
   * @param is64 true where a word of the file's structures has 8 bytes
   */
  ElfBytes(ByteBuffer bytes, String file, boolean is64) {
    this.bytes = bytes;
    this.file = file;
    this.is64 = is64;
  }

  String file() {
    return file;
  }

  boolean is64() {
    return is64;
  }

  int wordBytes() {
    return is64 ? 8 : 4;
  }

  /** Byte order of the file and of the guest. */
  ByteOrder order() {
    return bytes.order();
  }

  long size() {
    return bytes.capacity();
  }

  /** Refuses a range that does not lie in the file. */
  void requireRange(long offset, long length, String field) throws ElfFormatException {
    long limit = bytes.capacity();
    if (offset < 0 || length < 0 || offset > limit || length > limit - offset) {
      throw refuse(
          field,
          "0x%x with %s bytes".formatted(offset, Long.toUnsignedString(length)),
          "inside the file's %d bytes".formatted(limit),
          CUT_OFF);
    }
  }

  int u8(long offset, String field) throws ElfFormatException {
    requireRange(offset, 1, field);
    return bytes.get((int) offset) & 0xFF;
  }

  int u16(long offset, String field) throws ElfFormatException {
    requireRange(offset, 2, field);
    return bytes.getShort((int) offset) & 0xFFFF;
  }

  long u32(long offset, String field) throws ElfFormatException {
    requireRange(offset, 4, field);
    return bytes.getInt((int) offset) & 0xFFFF_FFFFL;
  }

  /** A word of the file's class, zero-extended. */
  long word(long offset, String field) throws ElfFormatException {
    if (!is64) {
      return u32(offset, field);
    }
    requireRange(offset, 8, field);
    return bytes.getLong((int) offset);
  }

  /** A read-only view in the guest's byte order; nothing is copied. */
  ByteBuffer slice(long offset, long length, String field) throws ElfFormatException {
    requireRange(offset, length, field);
    return bytes.slice((int) offset, (int) length).asReadOnlyBuffer().order(bytes.order());
  }

  ElfFormatException refuse(String field, String value, String allowed, String cure) {
    return new ElfFormatException(file, field, value, allowed, cure);
  }

  ElfFormatException damaged(String field, String value, String allowed) {
    return refuse(field, value, allowed, CUT_OFF);
  }
}
