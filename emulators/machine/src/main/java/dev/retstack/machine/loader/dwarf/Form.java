package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.loader.elf.ElfFormatException;

/** How the value of an attribute is written (DW_FORM_*; DWARF 5, section 7.5.6). */
final class Form {
  static final int ADDRESS = 0x01;
  static final int STRING = 0x08;
  static final int STRP = 0x0e;
  static final int REF4 = 0x13;
  static final int EXPRLOC = 0x18;
  static final int REF_ADDR = 0x10;
  static final int LINE_STRP = 0x1f;
  static final int IMPLICIT_CONST = 0x21;
  static final int RNGLISTX = 0x23;

  private static final int BLOCK2 = 0x03;
  private static final int BLOCK4 = 0x04;
  private static final int DATA2 = 0x05;
  private static final int DATA4 = 0x06;
  private static final int DATA8 = 0x07;
  private static final int BLOCK = 0x09;
  private static final int BLOCK1 = 0x0a;
  private static final int DATA1 = 0x0b;
  private static final int FLAG = 0x0c;
  private static final int SDATA = 0x0d;
  private static final int UDATA = 0x0f;
  private static final int REF1 = 0x11;
  private static final int REF8 = 0x14;
  private static final int REF_UDATA = 0x15;
  private static final int INDIRECT = 0x16;
  private static final int SEC_OFFSET = 0x17;
  private static final int FLAG_PRESENT = 0x19;
  private static final int STRX = 0x1a;
  private static final int ADDRX = 0x1b;
  private static final int REF_SUP4 = 0x1c;
  private static final int STRP_SUP = 0x1d;
  private static final int DATA16 = 0x1e;
  private static final int REF_SIG8 = 0x20;
  private static final int LOCLISTX = 0x22;
  private static final int REF_SUP8 = 0x24;
  private static final int STRX1 = 0x25;
  private static final int STRX4 = 0x28;
  private static final int ADDRX1 = 0x29;
  private static final int ADDRX4 = 0x2c;
  private static final int GNU_ADDR_INDEX = 0x1f01;
  private static final int GNU_STR_INDEX = 0x1f02;
  private static final int GNU_REF_ALT = 0x1f20;
  private static final int GNU_STRP_ALT = 0x1f21;

  private Form() {}

  /** Bytes that a value takes; negative where its bytes say. */
  static int bytes(int form, InfoUnit unit) {
    return switch (form) {
      case FLAG_PRESENT, IMPLICIT_CONST -> 0;
      case DATA1, FLAG, REF1, STRX1, ADDRX1 -> 1;
      case DATA2, REF1 + 1, STRX1 + 1, ADDRX1 + 1 -> 2;
      case STRX1 + 2, ADDRX1 + 2 -> 3;
      case DATA4, REF4, REF_SUP4, STRX4, ADDRX4 -> 4;
      case DATA8, REF8, REF_SIG8, REF_SUP8 -> 8;
      case DATA16 -> 16;
      case ADDRESS -> unit.addressBytes();
      case REF_ADDR -> unit.version() == 2 ? unit.addressBytes() : unit.offsetBytes();
      case STRP, SEC_OFFSET, STRP_SUP, LINE_STRP, GNU_REF_ALT, GNU_STRP_ALT -> unit.offsetBytes();
      default -> -1;
    };
  }

  /** Reads a value: a number, where a text begins, or 0 for what is passed over. */
  static long read(DwarfBytes in, int form, InfoUnit unit) throws ElfFormatException {
    int bytes = bytes(form, unit);
    if (bytes >= 0 && bytes <= Long.BYTES) {
      return in.number(bytes);
    }
    return switch (form) {
      case UDATA, REF_UDATA, STRX, ADDRX, LOCLISTX, RNGLISTX, GNU_ADDR_INDEX, GNU_STR_INDEX ->
          in.unsigned();
      case SDATA -> in.signed();
      case STRING -> in.text();
      case DATA16 -> passed(in, bytes);
      case BLOCK, EXPRLOC -> passed(in, in.unsigned());
      case BLOCK1 -> passed(in, in.number(1));
      case BLOCK2 -> passed(in, in.number(2));
      case BLOCK4 -> passed(in, in.number(4));
      case INDIRECT -> indirect(in, unit);
      default -> throw refuse(in, form);
    };
  }

  private static long indirect(DwarfBytes in, InfoUnit unit) throws ElfFormatException {
    long form = in.unsigned();
    if (form == INDIRECT || form == IMPLICIT_CONST) {
      throw refuse(in, form);
    }
    return read(in, Math.clamp(form, 0, Integer.MAX_VALUE), unit);
  }

  private static ElfFormatException refuse(DwarfBytes in, long form) {
    return in.refuse("the form of an attribute", "0x" + Long.toHexString(form), "one of DWARF 5");
  }

  private static long passed(DwarfBytes in, long bytes) throws ElfFormatException {
    in.skip(bytes, "a form");
    return 0;
  }

  /** True for an index into {@code .debug_addr}. */
  static boolean isAddressIndex(int form) {
    return form == ADDRX || form == GNU_ADDR_INDEX || (form >= ADDRX1 && form <= ADDRX4);
  }

  /** True for an index into {@code .debug_str_offsets}. */
  static boolean isTextIndex(int form) {
    return form == STRX || form == GNU_STR_INDEX || (form >= STRX1 && form <= STRX4);
  }

  /** True for an entry of the same unit. */
  static boolean isOfUnit(int form) {
    return (form >= REF1 && form <= REF8) || form == REF_UDATA;
  }
}
