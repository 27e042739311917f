package dev.retstack.machine.loader.elf;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Tells lies in an ELF file: in the file header, the program and section headers, the symbols, the
 * names, the code, the relocations; or cuts it off. Knows where these stand, so most lies hit a
 * field.
 */
public final class ElfMutator {
  private static final long[] TEMPTING = {
    0,
    1,
    -1,
    7,
    0x7F,
    0x80,
    0xFF,
    0x7FFF,
    0x8000,
    0xFFFF,
    0x7FFF_FFFFL,
    0x8000_0000L,
    0xFFFF_FFFFL,
    Long.MAX_VALUE,
    Long.MIN_VALUE,
    0xFFFF_FFFF_FFFF_F000L,
    0x1000,
    0x100000,
  };

  private final byte[] image;
  private final ByteOrder order;
  private final boolean is64;
  private final int[][] tables;

  /** A mutator of a file that is right. */
  public ElfMutator(byte[] image) {
    this.image = image;
    is64 = image[Elf.EI_CLASS] == Elf.ELFCLASS64;
    order = image[Elf.EI_DATA] == Elf.ELFDATA2MSB ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    ByteBuffer bytes = ByteBuffer.wrap(image).order(order);
    int header = is64 ? 64 : 52;
    int phoff = is64 ? (int) bytes.getLong(32) : bytes.getInt(28);
    int shoff = is64 ? (int) bytes.getLong(40) : bytes.getInt(32);
    int phnum = bytes.getShort(is64 ? 56 : 44);
    int shnum = bytes.getShort(is64 ? 60 : 48);
    int shentsize = is64 ? 64 : 40;
    int[] symbols = {0, header};
    int[] dynamicSymbols = {0, header};
    int[] names = {0, header};
    int[] code = {0, header};
    int[] relocations = {0, header};
    for (int i = 0; i < shnum; i++) {
      int at = shoff + i * shentsize;
      int type = bytes.getInt(at + 4);
      long flags = is64 ? bytes.getLong(at + 8) : bytes.getInt(at + 8);
      int offset = is64 ? (int) bytes.getLong(at + 24) : bytes.getInt(at + 16);
      int size = is64 ? (int) bytes.getLong(at + 32) : bytes.getInt(at + 20);
      if (type == Elf.SHT_SYMTAB) {
        symbols = new int[] {offset, size};
      } else if (type == Elf.SHT_DYNSYM) {
        dynamicSymbols = new int[] {offset, size};
      } else if (type == Elf.SHT_STRTAB) {
        names = new int[] {offset, size};
      } else if (type == Elf.SHT_REL || type == Elf.SHT_RELA) {
        relocations = new int[] {offset, size};
      } else if ((flags & Elf.SHF_EXECINSTR) != 0) {
        code = new int[] {offset, size};
      }
    }
    tables =
        new int[][] {
          {0, header},
          {phoff, phnum * (is64 ? 56 : 32)},
          {shoff, shnum * shentsize},
          symbols,
          dynamicSymbols,
          names,
          code,
          relocations,
        };
  }

  /** A copy with one to four lies. */
  public byte[] mutant(SplittableRandom random) {
    byte[] mutant = image.clone();
    int lies = 1 + random.nextInt(4);
    for (int i = 0; i < lies; i++) {
      if (random.nextInt(40) == 0) {
        mutant = Arrays.copyOf(mutant, random.nextInt(mutant.length) + 1);
      }
      int[] table = tables[random.nextInt(tables.length)];
      lie(mutant, table, random);
    }
    return mutant;
  }

  private void lie(byte[] mutant, int[] table, SplittableRandom random) {
    int from = table[0];
    int size = Math.min(table[1], mutant.length - from);
    if (size <= 0) {
      return;
    }
    int at = from + random.nextInt(size);
    switch (random.nextInt(6)) {
      case 0 -> mutant[at] ^= (byte) (1 << random.nextInt(8));
      case 1 -> mutant[at] = (byte) random.nextInt(256);
      case 2, 3 -> put(mutant, at & -4, TEMPTING[random.nextInt(TEMPTING.length)], random);
      case 4 -> { // a little more or less than it was
        int field = at & -4;
        if (field + 4 <= mutant.length) {
          ByteBuffer bytes = ByteBuffer.wrap(mutant).order(order);
          bytes.putInt(field, bytes.getInt(field) + random.nextInt(-64, 65));
        }
      }
      default -> { // what stands elsewhere in the table
        int length = Math.min(1 << random.nextInt(4), size);
        int other = from + random.nextInt(size - length + 1);
        System.arraycopy(mutant, other, mutant, Math.min(at, mutant.length - length), length);
      }
    }
  }

  private void put(byte[] mutant, int at, long value, SplittableRandom random) {
    int width = 1 << random.nextInt(is64 ? 4 : 3);
    for (int b = 0; b < width && at + b < mutant.length; b++) {
      int shift = 8 * (order == ByteOrder.LITTLE_ENDIAN ? b : width - 1 - b);
      mutant[at + b] = (byte) (value >>> shift);
    }
  }
}
