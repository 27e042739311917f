package dev.retstack.machine.loader.elf;

import it.unimi.dsi.fastutil.ints.Int2ObjectOpenHashMap;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * Names of sections or symbols.
 *
 * <p>Linkers let names share their tails, so a hostile table can name n symbols with n(n+1)/2
 * bytes. The size of the table therefore limits the bytes that are handed out.
 */
final class StringTable {
  /** Longest name; mangled C++ names of a few kilobytes exist. */
  static final int NAME_BYTES_MAX = 32 << 10;

  /** How many times its own size a table may be handed out as names. */
  private static final long SHARING_MAX = 8;

  private final ElfBytes bytes;
  private final String what;
  private final ByteBuffer table;
  private final Int2ObjectOpenHashMap<String> known = new Int2ObjectOpenHashMap<>();
  private long budget;

  StringTable(ElfBytes bytes, long offset, long size, String what) throws ElfFormatException {
    this.bytes = bytes;
    this.what = what;
    this.table = bytes.slice(offset, size, what);
    this.budget = SHARING_MAX * size + NAME_BYTES_MAX;
  }

  /** A table in which every name is empty. */
  static StringTable empty(ElfBytes bytes) throws ElfFormatException {
    return new StringTable(bytes, 0, 0, "no names");
  }

  /** True where a name can start at {@code offset}. */
  boolean covers(long offset) {
    return offset < table.capacity();
  }

  /** The name that starts at {@code offset}; offset 0 of an empty table is the empty name. */
  String at(long offset) throws ElfFormatException {
    if (table.capacity() == 0) {
      return "";
    }
    if (!covers(offset)) {
      throw bytes.damaged(
          "a name in " + what, "at offset " + offset, "offsets below " + table.capacity());
    }
    String name = known.get((int) offset);
    if (name == null) {
      name = read((int) offset);
      known.put((int) offset, name);
    }
    return name;
  }

  private String read(int offset) throws ElfFormatException {
    int end = offset;
    int stop = (int) Math.min(table.capacity(), (long) offset + NAME_BYTES_MAX + 1);
    while (end < stop && table.get(end) != 0) {
      end++;
    }
    int length = end - offset;
    if (end == stop) {
      throw bytes.damaged(
          "a name in " + what,
          "unterminated at offset " + offset,
          "at most " + NAME_BYTES_MAX + " bytes and a zero");
    }
    budget -= length;
    if (budget < 0) {
      throw bytes.damaged(
          what,
          "more than " + SHARING_MAX + " times its own size in overlapping names",
          "names that share little");
    }
    byte[] raw = new byte[length];
    table.get(offset, raw);
    return printable(new String(raw, StandardCharsets.UTF_8));
  }

  /** Names reach terminals: an escape sequence in one must not. */
  private static String printable(String name) {
    boolean clean = true;
    for (int i = 0; i < name.length() && clean; i++) {
      clean = !Character.isISOControl(name.charAt(i));
    }
    if (clean) {
      return name;
    }
    StringBuilder mended = new StringBuilder(name);
    for (int i = 0; i < mended.length(); i++) {
      if (Character.isISOControl(mended.charAt(i))) {
        mended.setCharAt(i, '\uFFFD');
      }
    }
    return mended.toString();
  }
}
