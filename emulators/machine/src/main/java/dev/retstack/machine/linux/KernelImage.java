package dev.retstack.machine.linux;

import dev.retstack.machine.isa.sigframe.KernelObject;
import dev.retstack.machine.isa.sigframe.SignalAbi;
import dev.retstack.machine.loader.elf.ElfFile;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The shared object of the kernel, as a program finds it in memory. Source: System V gABI; LSB
 * Core, "Exception Frames"; DWARF 5, 6.4 "Call Frame Information".
 *
 * <pre>
 *   ELF header     program headers: PT_LOAD, PT_DYNAMIC, PT_GNU_EH_FRAME
 *   code           where handlers return
 *   names          symbols, hash table of one bucket, dynamic section
 *   .eh_frame      the registers are in the frame to which the stack pointer points
 *   .eh_frame_hdr
 * </pre>
 *
 * An unwinder looks for the instruction in front of a return address. So the unwind table begins
 * one instruction in front of the code.
 */
final class KernelImage {
  private static final int BYTES_MAX = 4096;
  private static final int CODE_AT = 256;
  private static final int INSTRUCTION_BYTES = 4;

  private static final short ET_DYN = 3;
  private static final int PT_LOAD = 1;
  private static final int PT_DYNAMIC = 2;
  private static final int PT_GNU_EH_FRAME = 0x6474_e550;
  private static final int SEGMENTS = 3;
  private static final int PF_R = 4;
  private static final int PF_RX = 5;

  private static final int DT_HASH = 4;
  private static final int DT_STRTAB = 5;
  private static final int DT_SYMTAB = 6;
  private static final int DT_STRSZ = 10;
  private static final int DT_SYMENT = 11;
  private static final int DT_SONAME = 14;

  /** {@code STB_GLOBAL}, {@code STT_FUNC}. */
  private static final byte GLOBAL_FUNCTION = 0x12;

  /** The section of a symbol: any, because the object has no table of sections. */
  private static final short SECTION = 1;

  private static final byte PCREL_SDATA4 = 0x1b;
  private static final byte DATAREL_SDATA4 = 0x3b;
  private static final byte UDATA4 = 0x03;
  private static final int DW_CFA_DEF_CFA_EXPRESSION = 0x0f;
  private static final int DW_CFA_EXPRESSION = 0x10;
  private static final int DW_OP_BREG0 = 0x70;
  private static final int DW_OP_DEREF = 0x06;

  private final KernelObject object;
  private final SignalAbi abi;
  private final boolean wide;
  private final ByteBuffer to;
  private final int size;

  /**
   * @param program for which it is
   * @param abi says where a frame has the registers
   */
  KernelImage(ElfFile program, SignalAbi abi, KernelObject object) {
    this.object = object;
    this.abi = abi;
    wide = program.is64();
    to = ByteBuffer.allocate(BYTES_MAX).order(program.order());
    int headerBytes = wide ? 64 : 52;
    int segmentBytes = wide ? 56 : 32;

    to.position(CODE_AT).put(abi.trampolineCode());
    int dynamic = dynamic();
    int dynamicEnd = to.position();
    int frames = to.position();
    int entry = frames();
    int table = to.position();
    to.put((byte) 1).put(PCREL_SDATA4).put(UDATA4).put(DATAREL_SDATA4);
    relative(frames);
    to.putInt(1).putInt(CODE_AT - INSTRUCTION_BYTES - table).putInt(entry - table);
    size = to.position();

    to.position(0);
    header(program, headerBytes, segmentBytes);
    segment(PT_LOAD, PF_RX, 0, size);
    segment(PT_DYNAMIC, PF_R, dynamic, dynamicEnd - dynamic);
    segment(PT_GNU_EH_FRAME, PF_R, table, size - table);
  }

  /** From its beginning to where handlers return. */
  int codeAt() {
    return CODE_AT;
  }

  /** What a program finds in memory. */
  byte[] bytes() {
    return Arrays.copyOf(to.array(), size);
  }

  private void header(ElfFile program, int headerBytes, int segmentBytes) {
    boolean isLittle = !program.bigEndian();
    to.put(new byte[] {0x7f, 'E', 'L', 'F', (byte) (wide ? 2 : 1), (byte) (isLittle ? 1 : 2), 1});
    to.position(16);
    to.putShort(ET_DYN).putShort((short) program.machine()).putInt(1);
    word(0);
    word(headerBytes); // where the program headers are
    word(0);
    to.putInt(program.flags()).putShort((short) headerBytes);
    to.putShort((short) segmentBytes).putShort((short) SEGMENTS);
    to.position(headerBytes);
  }

  private void segment(int type, int flags, int at, int bytes) {
    to.putInt(type);
    if (wide) {
      to.putInt(flags);
    }
    word(at);
    word(at);
    word(at);
    word(bytes);
    word(bytes);
    if (!wide) {
      to.putInt(flags);
    }
    word(wide ? 8 : 4);
  }

  /** Names, symbols, hash table and the dynamic section, whose place this returns. */
  private int dynamic() {
    int strings = to.position();
    to.put((byte) 0);
    int ownName = string(object.name()) - strings;
    List<Map.Entry<String, Integer>> functions = List.copyOf(object.functions().entrySet());
    List<Integer> names = new ArrayList<>();
    functions.forEach(function -> names.add(string(function.getKey()) - strings));
    int stringsEnd = to.position();
    int symbols = align(Long.BYTES);
    int symbolBytes = wide ? 24 : 16;
    to.position(symbols + symbolBytes);
    for (int i = 0; i < functions.size(); i++) {
      symbol(names.get(i), CODE_AT + functions.get(i).getValue());
    }
    int hash = to.position();
    int count = functions.size();
    to.putInt(1)
        .putInt(count + 1)
        .putInt(count)
        .putInt(0); // each symbol is followed by the one before
    for (int i = 0; i < count; i++) {
      to.putInt(i);
    }
    int dynamic = align(Long.BYTES);
    pair(DT_HASH, hash);
    pair(DT_STRTAB, strings);
    pair(DT_SYMTAB, symbols);
    pair(DT_STRSZ, stringsEnd - strings);
    pair(DT_SYMENT, symbolBytes);
    pair(DT_SONAME, ownName);
    pair(0, 0);
    return dynamic;
  }

  private void symbol(int name, int value) {
    to.putInt(name);
    if (wide) {
      to.put(GLOBAL_FUNCTION).put((byte) 0).putShort(SECTION).putLong(value).putLong(0);
    } else {
      to.putInt(value).putInt(0).put(GLOBAL_FUNCTION).put((byte) 0).putShort(SECTION);
    }
  }

  /** The unwind table: a CIE with all rules, and the FDE of the code, whose place this returns. */
  private int frames() {
    int common = to.position();
    to.putInt(0).putInt(0).put((byte) 1).put("zRS\0".getBytes(StandardCharsets.US_ASCII));
    number(1);
    number(0x7f); // offsets count in units of -1
    to.put((byte) object.returnColumn());
    number(1);
    to.put(PCREL_SDATA4);
    rules();
    end(common);

    int entry = to.position();
    to.putInt(0).putInt(to.position() - common);
    relative(CODE_AT - INSTRUCTION_BYTES);
    to.putInt(INSTRUCTION_BYTES + abi.trampoline().size());
    number(0);
    end(entry);
    to.putInt(0);
    return entry;
  }

  /** The length of what began at a place comes first; filled up with DW_CFA_nop. */
  private void end(int began) {
    align(Integer.BYTES);
    to.putInt(began, to.position() - began - Integer.BYTES);
  }

  /** A register is where the frame has it, and the stack pointer is what the frame says. */
  private void rules() {
    for (SignalAbi.Saved saved : abi.saved()) {
      for (int column : object.columns().getOrDefault(saved.register(), List.of())) {
        boolean isStack = column == object.stackColumn();
        to.put((byte) (isStack ? DW_CFA_DEF_CFA_EXPRESSION : DW_CFA_EXPRESSION));
        if (!isStack) {
          number(column);
        }
        int length = to.position();
        to.put((byte) 0).put((byte) (DW_OP_BREG0 + object.stackColumn()));
        signed(saved.at());
        if (isStack) {
          to.put((byte) DW_OP_DEREF);
        }
        to.put(length, (byte) (to.position() - length - 1));
      }
    }
  }

  private void relative(int address) {
    to.putInt(address - to.position());
  }

  /** Writes a number below 128: ULEB128 has one byte then. */
  private void number(int value) {
    to.put((byte) value);
  }

  /** SLEB128 of a number that is not negative. */
  private void signed(int value) {
    int rest = value;
    for (; rest >= 0x40; rest >>= 7) {
      to.put((byte) ((rest & 0x7f) | 0x80));
    }
    to.put((byte) rest);
  }

  private int string(String text) {
    int at = to.position();
    to.put(text.getBytes(StandardCharsets.US_ASCII)).put((byte) 0);
    return at;
  }

  private void pair(int tag, int value) {
    word(tag);
    word(value);
  }

  private void word(int value) {
    if (wide) {
      to.putLong(value);
    } else {
      to.putInt(value);
    }
  }

  private int align(int bytes) {
    to.position((to.position() + bytes - 1) & -bytes);
    return to.position();
  }
}
