package dev.retstack.machine.loader.dwarf;

import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Section;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Where functions begin, by the sorted table of the unwind information (Linux Standard Base,
 * "Exception Frames": {@code .eh_frame_hdr}). A program without symbols still has it.
 */
public final class FunctionStarts {
  /** Version 1; a relative pointer; a number and pairs, of four bytes each, relative to here. */
  private static final int[] FORM = {1, 0x1b, 0x03, 0x3b};

  private static final int HEADER = 12;
  private static final int PAIR = 8;

  /** In a description: where it says at which address its code begins; the bytes of that follow. */
  private static final int BEGIN = 8;

  private static final FunctionStarts NONE = new FunctionStarts(new long[0], new long[0], null);

  private final long[] starts;
  private final long[] descriptions;
  private final Code memory;

  private FunctionStarts(long[] starts, long[] descriptions, Code memory) {
    this.starts = starts;
    this.descriptions = descriptions;
    this.memory = memory;
  }

  /** The table of a file; empty where it has none, or one of another form. */
  public static FunctionStarts of(ElfFile elf) {
    try {
      Optional<Section> section = elf.section(".eh_frame_hdr");
      Optional<ByteBuffer> bytes =
          section.isPresent() ? elf.content(section.get()) : Optional.empty();
      return bytes.isEmpty() ? NONE : read(elf, bytes.get(), section.get().address());
    } catch (ElfFormatException damaged) {
      return NONE;
    }
  }

  private static FunctionStarts read(ElfFile elf, ByteBuffer bytes, long address) {
    if (bytes.remaining() < HEADER) {
      return NONE;
    }
    for (int i = 0; i < FORM.length; i++) {
      if ((bytes.get(i) & 0xff) != FORM[i]) {
        return NONE;
      }
    }
    int room = (bytes.remaining() - HEADER) / PAIR;
    int count = Math.clamp(Integer.toUnsignedLong(bytes.getInt(HEADER - Integer.BYTES)), 0, room);
    long[] starts = new long[count];
    long[] descriptions = new long[count];
    for (int i = 0; i < count; i++) {
      starts[i] = address + bytes.getInt(HEADER + i * PAIR);
      descriptions[i] = address + bytes.getInt(HEADER + i * PAIR + Integer.BYTES);
      if (i > 0 && starts[i] <= starts[i - 1]) {
        return NONE; // a file may lie
      }
    }
    boolean swap = elf.bigEndian();
    Code memory = elf.codeReader();
    return new FunctionStarts(
        starts,
        descriptions,
        at -> swap ? Integer.reverseBytes((int) memory.at(at)) : (int) memory.at(at));
  }

  /** First address of the function that holds one. */
  public OptionalLong of(long address) {
    int found = Arrays.binarySearch(starts, address);
    int index = found >= 0 ? found : -found - 2;
    return index >= 0 && holds(index, address)
        ? OptionalLong.of(starts[index])
        : OptionalLong.empty();
  }

  /** True where the description begins where the table says, and reaches as far. */
  private boolean holds(int index, long address) {
    long begin = descriptions[index] + BEGIN;
    long bytes = memory.at(begin + Integer.BYTES) & 0xFFFF_FFFFL;
    return begin + (int) memory.at(begin) == starts[index] && address - starts[index] < bytes;
  }
}
