package dev.retstack.schema.codec;

/** Numbers of the {@code packed1} layout, which {@code schemas/README.md} draws. */
final class Packed1Layout {
  /** Longest record: head 10, form 1, depth 5, four fields of 10, and a rounding up. */
  static final int RECORD_BYTES_MAX = 64;

  // tags in the low bits of a record's first byte, and how many bits they take
  static final int TAG_EXIT = 0b0;
  static final int TAG_EXIT_BITS = 1;
  static final int TAG_ENTRY = 0b01;
  static final int TAG_ENTRY_BITS = 2;
  static final int TAG_FORM = 0b11;
  static final int TAG_FORM_BITS = 2;

  // form byte: kind in bits 0-1, then what is coded because it was not foretold
  static final int FORM_KIND = 0b11;
  static final int FORM_DEPTH = 1 << 2;
  static final int FORM_RET_P = 1 << 3;
  static final int FORM_FP = 1 << 4;

  /** Exit: selfpc coded. Entry: an edge not yet in the table; selfpc, frompc, retp, fp coded. */
  static final int FORM_SELF_PC = 1 << 5;

  /** Exit only: frompc coded. */
  static final int FORM_FROM_PC = 1 << 6;

  /** Kind of a record that is none of ENTRY, EXIT, LOST; the bits above are its number. */
  static final int FORM_OTHER_KIND = 0b11;

  /** Where the kind's number stands then, less that of FUNCTION. */
  static final int FORM_OTHER_SHIFT = 2;

  /** Lost only: depth, frompc, retp and fp are not all 0 and are coded. */
  static final int FORM_OTHERS = 1 << 2;

  private Packed1Layout() {}
}
