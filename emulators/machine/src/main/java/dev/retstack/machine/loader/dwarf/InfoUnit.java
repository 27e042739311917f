package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFormatException;

/**
 * A unit of {@code .debug_info}: how its entries are read (DWARF 5, section 7.5.1).
 *
 * @param start where its header begins, which its references count from
 * @param entries where its first entry begins; the end where it has none that matter
 * @param end behind its last entry
 * @param version of DWARF
 * @param addressBytes bytes of an address
 * @param offsetBytes bytes of an offset into a section
 * @param abbreviations offset of its table of abbreviations
 */
record InfoUnit(
    int start,
    int entries,
    int end,
    int version,
    int addressBytes,
    int offsetBytes,
    long abbreviations) {
  /** Units of a file at most: a Linux kernel has some 5,000. */
  static final int UNITS_MAX = 1 << 17;

  private static final long ESCAPE_64 = 0xFFFF_FFFFL;
  private static final int FIRST_VERSION = 2;
  private static final int LAST_VERSION = 5;

  /** Kinds of units that hold functions (DW_UT_*). */
  private static final int COMPILE = 1;

  private static final int PARTIAL = 3;

  /** Reads the header of the unit that begins here, and passes its entries. */
  static InfoUnit read(DwarfBytes in) throws ElfFormatException {
    int start = in.at();
    long length = in.u32();
    int offsetBytes = length == ESCAPE_64 ? Long.BYTES : Integer.BYTES;
    in.limit(length == ESCAPE_64 ? in.number(Long.BYTES) : length, "unit_length");
    int end = in.at() + in.left();
    int entries = end;
    int version = 0;
    int addressBytes = 0;
    long abbreviations = 0;
    if (in.more()) {
      version = in.u16();
      if (version < FIRST_VERSION || version > LAST_VERSION) {
        throw in.refuse("version", Integer.toString(version), "2 to 5");
      }
      int kind = COMPILE;
      if (version == LAST_VERSION) {
        kind = in.u8();
        addressBytes = in.u8();
        abbreviations = in.number(offsetBytes);
      } else {
        abbreviations = in.number(offsetBytes);
        addressBytes = in.u8();
      }
      if (addressBytes < 1 || addressBytes > Long.BYTES) {
        throw in.refuse("address_size", Integer.toString(addressBytes), "1 to 8");
      }
      entries = kind == COMPILE || kind == PARTIAL ? in.at() : end;
    }
    in.nextUnit();
    return new InfoUnit(start, entries, end, version, addressBytes, offsetBytes, abbreviations);
  }
}
