package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFormatException;

/**
 * The pieces that a function has its code in: a list of {@code .debug_rnglists} (DWARF 5, section
 * 2.17.3) or of {@code .debug_ranges} of the versions before.
 */
final class RangeList {
  /** Kinds of entries (DW_RLE_*). */
  private static final int END = 0;

  private static final int BASE_INDEX = 1;
  private static final int START_END_INDEX = 2;
  private static final int START_INDEX_LENGTH = 3;
  private static final int OFFSETS = 4;
  private static final int BASE = 5;
  private static final int START_END = 6;
  private static final int START_LENGTH = 7;

  /** Reads an address by its index in {@code .debug_addr}. */
  interface Addresses {
    long at(long index) throws ElfFormatException;
  }

  private final DwarfBytes in;
  private final int addressBytes;
  private final boolean old;
  private long base;
  private long low;
  private long bytes;

  /**
   * @param in stands where the list begins
   * @param base what offsets count from, until the list says otherwise
   * @param old true before DWARF 5
   */
  RangeList(DwarfBytes in, int addressBytes, long base, boolean old) {
    this.in = in;
    this.addressBytes = addressBytes;
    this.base = base;
    this.old = old;
  }

  int at() {
    return in.at();
  }

  /** First address of the piece that was read. */
  long low() {
    return low;
  }

  /** Length of the range list. */
  long bytes() {
    return bytes;
  }

  /** Reads a piece; false at the end. */
  boolean next(Addresses addresses) throws ElfFormatException {
    return old ? nextPair() : nextEntry(addresses);
  }

  private boolean nextPair() throws ElfFormatException {
    long all = -1L >>> (Long.SIZE - Byte.SIZE * addressBytes);
    while (true) {
      long begin = in.number(addressBytes);
      long end = in.number(addressBytes);
      if (begin == all) {
        base = end;
      } else if (begin == 0 && end == 0) {
        return false;
      } else {
        piece(base + begin, end - begin);
        return true;
      }
    }
  }

  private boolean nextEntry(Addresses addresses) throws ElfFormatException {
    while (true) {
      int kind = in.u8();
      switch (kind) {
        case END -> {
          return false;
        }
        case BASE_INDEX -> base = addresses.at(in.unsigned());
        case BASE -> base = in.number(addressBytes);
        case START_END_INDEX -> {
          long begin = addresses.at(in.unsigned());
          piece(begin, addresses.at(in.unsigned()) - begin);
          return true;
        }
        case START_INDEX_LENGTH -> {
          long begin = addresses.at(in.unsigned());
          piece(begin, in.unsigned());
          return true;
        }
        case OFFSETS -> {
          long begin = in.unsigned();
          piece(base + begin, in.unsigned() - begin);
          return true;
        }
        case START_END -> {
          long begin = in.number(addressBytes);
          piece(begin, in.number(addressBytes) - begin);
          return true;
        }
        case START_LENGTH -> {
          long begin = in.number(addressBytes);
          piece(begin, in.unsigned());
          return true;
        }
        default -> throw in.refuse("the kind of a range", Integer.toString(kind), "0 to 7");
      }
    }
  }

  private void piece(long begin, long length) {
    low = begin;
    bytes = length;
  }
}
