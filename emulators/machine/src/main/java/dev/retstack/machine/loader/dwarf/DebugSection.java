package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Section;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.Optional;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;

/**
 * The bytes of a section of debug information, unpacked where the file has them compressed (System
 * V gABI, chapter 4, "Section Compression").
 */
final class DebugSection {
  /** Bytes of a section at most, unpacked: the tables of a Linux kernel have some 40 MB. */
  static final int BYTES_MAX = 64 << 20;

  private static final byte[] NONE = {};
  private static final int ZLIB = 1;
  private static final int UNPACKED_AT_FIRST = 64 << 10;
  private static final int OLDER_MAGIC = 0x5a4c_4942;
  private static final int OLDER_HEADER = 12;

  /** What a file without lines costs, before the cure. */
  static final String NO_LINES = "its functions have no source lines: ";

  private DebugSection() {}

  /**
   * What a section holds; nothing where the file does not have it.
   *
   * @param cost what it costs that it cannot be read, for messages
   * @throws ElfFormatException where it is too large, or cannot be unpacked
   */
  static byte[] read(ElfFile elf, String name, String cost) throws ElfFormatException {
    Optional<Section> section = find(elf, name);
    Optional<ByteBuffer> content =
        section.isPresent() ? elf.content(section.get()) : Optional.empty();
    if (content.isEmpty()) {
      return NONE;
    }
    ByteBuffer bytes = content.get();
    if (section.get().compressed()) {
      return unpack(elf, name, bytes, cost);
    }
    if (!section.get().name().equals(name)) {
      return unpackOlder(elf, name, bytes, cost);
    }
    if (bytes.remaining() > BYTES_MAX) {
      throw tooLarge(elf, name, bytes.remaining(), cost);
    }
    byte[] copy = new byte[bytes.remaining()];
    bytes.get(copy);
    return copy;
  }

  /** A section, which an older form of compression gives another name. */
  static Optional<Section> find(ElfFile elf, String name) {
    return elf.section(name).or(() -> elf.section(".z" + name.substring(1)));
  }

  /**
   * What {@code -gz=zlib-gnu} writes: {@code ZLIB}, and the size as eight bytes, the highest first.
   */
  private static byte[] unpackOlder(ElfFile elf, String name, ByteBuffer bytes, String cost)
      throws ElfFormatException {
    ByteBuffer words = bytes.slice().order(ByteOrder.BIG_ENDIAN);
    if (words.remaining() < OLDER_HEADER || words.getInt(0) != OLDER_MAGIC) {
      throw refuse(elf, name, "of an unknown form", "ZLIB and a size", cost);
    }
    return inflate(elf, name, words.position(OLDER_HEADER), words.getLong(Integer.BYTES), cost);
  }

  private static byte[] unpack(ElfFile elf, String name, ByteBuffer bytes, String cost)
      throws ElfFormatException {
    int header = elf.is64() ? 24 : 12;
    if (bytes.remaining() < header) {
      throw refuse(
          elf, name, bytes.remaining() + " bytes", "a header of " + header + " bytes", cost);
    }
    int kind = bytes.getInt(0);
    long size = elf.is64() ? bytes.getLong(8) : bytes.getInt(4) & 0xFFFF_FFFFL;
    if (kind != ZLIB) {
      throw refuse(elf, name, "compressed in form %d".formatted(kind), "form 1 (zlib)", cost);
    }
    return inflate(elf, name, bytes.position(header), size, cost);
  }

  private static byte[] inflate(ElfFile elf, String name, ByteBuffer packed, long size, String cost)
      throws ElfFormatException {
    if (size < 0 || size > BYTES_MAX) {
      throw tooLarge(elf, name, size, cost);
    }
    byte[] unpacked = inflate(packed, (int) size);
    if (unpacked.length != size) {
      throw refuse(
          elf,
          name,
          "damaged: %d bytes of %d can be unpacked".formatted(unpacked.length, size),
          "a whole zlib stream",
          cost);
    }
    return unpacked;
  }

  /** Memory grows with what is really there, not with what the header says. */
  private static byte[] inflate(ByteBuffer packed, int size) {
    byte[] out = new byte[Math.min(size, UNPACKED_AT_FIRST)];
    int filled = 0;
    try (Inflater inflater = new Inflater()) {
      inflater.setInput(packed);
      while (filled < size) {
        if (filled == out.length) {
          out = Arrays.copyOf(out, (int) Math.min(size, 2L * out.length));
        }
        int more = inflater.inflate(out, filled, out.length - filled);
        if (more == 0) {
          break;
        }
        filled += more;
      }
    } catch (DataFormatException _) {
      return Arrays.copyOf(out, filled);
    }
    return filled == out.length ? out : Arrays.copyOf(out, filled);
  }

  private static ElfFormatException tooLarge(ElfFile elf, String name, long size, String cost) {
    return new ElfFormatException(
        elf.name(),
        name,
        Long.toUnsignedString(size) + " bytes",
        "at most " + BYTES_MAX,
        cost + "compile with -g1");
  }

  private static ElfFormatException refuse(
      ElfFile elf, String name, String value, String allowed, String cost) {
    return new ElfFormatException(elf.name(), name, value, allowed, cost + "compile with -gz=zlib");
  }
}
