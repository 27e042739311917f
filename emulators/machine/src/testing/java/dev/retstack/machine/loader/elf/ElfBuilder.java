package dev.retstack.machine.loader.elf;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Writes small ELF files of any class and byte order, right ones and ones that lie.
 *
 * <p>Layout: header, program headers, code of {@link #CODE_BYTES} bytes at {@link #CODE_OFFSET},
 * symbol names, symbols, section names, section headers.
 */
public final class ElfBuilder {
  static final int CODE_OFFSET = 0x400;
  static final int CODE_BYTES = 0x100;

  /** Where the code stands in memory. */
  public static final long CODE_ADDRESS = 0x10400;

  static final int OPD_OFFSET = 0x80;

  private final boolean is64;
  private final ByteOrder order;
  private final List<long[]> programHeaders = new ArrayList<>();
  private final List<SymbolEntry> symbols = new ArrayList<>();
  private int type = Elf.ET_EXEC;
  private int machine = 62;
  private int flags;
  private long entry = CODE_ADDRESS;
  private byte[] mcountLoc = new byte[0];
  private byte[] opd = new byte[0];
  private final Map<String, DebugSection> debug = new LinkedHashMap<>();
  private int symbolNamesLink = 2;

  private record DebugSection(ByteBuffer bytes, long flags) {}

  private record SymbolEntry(String name, long value, long size, int info, int section) {}

  public ElfBuilder(boolean is64, ByteOrder order) {
    this.is64 = is64;
    this.order = order;
    load(CODE_OFFSET, CODE_ADDRESS, CODE_BYTES, CODE_BYTES, Elf.PF_R | Elf.PF_X);
  }

  /** A 64-bit little-endian file. */
  public static ElfBuilder elf64() {
    return new ElfBuilder(true, ByteOrder.LITTLE_ENDIAN);
  }

  public ElfBuilder type(int value) {
    type = value;
    return this;
  }

  /** Sets {@code e_machine}. */
  public ElfBuilder machine(int value) {
    machine = value;
    return this;
  }

  /** Sets {@code e_flags}. */
  public ElfBuilder flags(int value) {
    flags = value;
    return this;
  }

  public ElfBuilder entry(long value) {
    entry = value;
    return this;
  }

  /** Adds a PT_LOAD program header. */
  public ElfBuilder load(long offset, long address, long fileSize, long memorySize, int flags) {
    return header(Elf.PT_LOAD, offset, address, fileSize, memorySize, flags);
  }

  public ElfBuilder header(int kind, long offset, long address, long file, long memory, int flags) {
    programHeaders.add(new long[] {kind, flags, offset, address, file, memory});
    return this;
  }

  /** A symbol; {@code info} is binding * 16 + type. */
  public ElfBuilder symbol(String name, long value, long size, int info) {
    symbols.add(new SymbolEntry(name, value, size, info, 1));
    return this;
  }

  /** Words put at the start of the code, covered by a section {@code __mcount_loc}. */
  public ElfBuilder mcountLoc(long... sites) {
    mcountLoc = words(sites);
    return this;
  }

  /**
   * Words put {@link #OPD_OFFSET} bytes into the code, covered by a section {@code .opd}: function
   * descriptors.
   */
  public ElfBuilder opd(long... words) {
    opd = words(words);
    return this;
  }

  /** The bytes of a section of debug information, and its {@code sh_flags}. */
  public ElfBuilder debug(String section, byte[] bytes, long sectionFlags) {
    debug.put(section, new DebugSection(ByteBuffer.wrap(bytes.clone()), sectionFlags));
    return this;
  }

  private byte[] words(long... values) {
    ByteBuffer words = ByteBuffer.allocate(values.length * (is64 ? 8 : 4)).order(order);
    for (long value : values) {
      word(words, value);
    }
    return words.array();
  }

  public ElfBuilder symbolNamesLink(int section) {
    symbolNamesLink = section;
    return this;
  }

  /** The bytes of the file. */
  public byte[] build() {
    ByteArrayOutputStream names = new ByteArrayOutputStream();
    names.write(0);
    ByteBuffer table = ByteBuffer.allocate((symbols.size() + 1) * symbolBytes()).order(order);
    table.position(symbolBytes());
    for (SymbolEntry s : symbols) {
      putSymbol(table, s, names.size());
      names.writeBytes(s.name.getBytes(StandardCharsets.UTF_8));
      names.write(0);
    }
    String sectionNames = "\0.text\0.strtab\0.symtab\0.shstrtab\0__mcount_loc\0.opd\0";
    int debugNamesAt = sectionNames.length();
    sectionNames += String.join("\0", debug.keySet()) + "\0";
    int namesAt = CODE_OFFSET + CODE_BYTES;
    int symbolsAt = namesAt + names.size();
    int sectionNamesAt = symbolsAt + table.capacity();
    int linesAt = sectionNamesAt + sectionNames.length();
    int sectionsAt = linesAt + debug.values().stream().mapToInt(s -> s.bytes().capacity()).sum();
    int sections = 5 + debug.size();
    for (byte[] content : List.of(mcountLoc, opd)) {
      sections += content.length == 0 ? 0 : 1;
    }
    ByteBuffer file = ByteBuffer.allocate(sectionsAt + sections * (is64 ? 64 : 40)).order(order);
    putHeader(file, sectionsAt, sections);
    programHeaders.forEach(p -> putProgramHeader(file, p));
    file.put(CODE_OFFSET, mcountLoc);
    file.put(CODE_OFFSET + OPD_OFFSET, opd);
    file.put(namesAt, names.toByteArray());
    file.put(symbolsAt, table.array());
    file.put(sectionNamesAt, sectionNames.getBytes(StandardCharsets.US_ASCII));
    file.position(linesAt);
    debug.values().forEach(section -> file.put(section.bytes().duplicate()));
    file.position(sectionsAt);
    putSection(file, 0, 0, 0, 0, 0, 0, 0, 0);
    putSection(file, 1, 1, 6, CODE_ADDRESS, CODE_OFFSET, CODE_BYTES, 0, 0);
    putSection(file, 7, Elf.SHT_STRTAB, 0, 0, namesAt, names.size(), 0, 0);
    putSection(
        file,
        15,
        Elf.SHT_SYMTAB,
        0,
        0,
        symbolsAt,
        table.capacity(),
        symbolNamesLink,
        symbolBytes());
    putSection(file, 23, Elf.SHT_STRTAB, 0, 0, sectionNamesAt, sectionNames.length(), 0, 0);
    if (mcountLoc.length > 0) {
      putSection(file, 33, 1, 2, CODE_ADDRESS, CODE_OFFSET, mcountLoc.length, 0, 0);
    }
    if (opd.length > 0) {
      int offset = CODE_OFFSET + OPD_OFFSET;
      putSection(file, 46, 1, 3, CODE_ADDRESS + OPD_OFFSET, offset, opd.length, 0, 0);
    }
    int nameAt = debugNamesAt;
    int bytesAt = linesAt;
    for (Map.Entry<String, DebugSection> named : debug.entrySet()) {
      DebugSection section = named.getValue();
      putSection(file, nameAt, 1, section.flags(), 0, bytesAt, section.bytes().capacity(), 0, 0);
      nameAt += named.getKey().length() + 1;
      bytesAt += section.bytes().capacity();
    }
    return Arrays.copyOf(file.array(), file.position());
  }

  private void putHeader(ByteBuffer file, int sectionsAt, int sections) {
    file.put(new byte[] {0x7F, 'E', 'L', 'F', (byte) (is64 ? 2 : 1)});
    file.put((byte) (order == ByteOrder.BIG_ENDIAN ? 2 : 1)).put((byte) 1);
    file.position(16);
    file.putShort((short) type).putShort((short) machine).putInt(1);
    word(file, entry);
    word(file, is64 ? 64 : 52);
    word(file, sectionsAt);
    file.putInt(flags).putShort((short) (is64 ? 64 : 52)).putShort((short) (is64 ? 56 : 32));
    file.putShort((short) programHeaders.size()).putShort((short) (is64 ? 64 : 40));
    file.putShort((short) sections).putShort((short) 4);
  }

  private void putProgramHeader(ByteBuffer file, long[] p) {
    file.putInt((int) p[0]);
    if (is64) {
      file.putInt((int) p[1]);
    }
    word(file, p[2]);
    word(file, p[3]);
    word(file, p[3]);
    word(file, p[4]);
    word(file, p[5]);
    if (!is64) {
      file.putInt((int) p[1]);
    }
    word(file, 4);
  }

  private void putSection(
      ByteBuffer file,
      int name,
      int kind,
      long flags,
      long address,
      long offset,
      long size,
      int link,
      long entryBytes) {
    file.putInt(name).putInt(kind);
    word(file, flags);
    word(file, address);
    word(file, offset);
    word(file, size);
    file.putInt(link).putInt(0);
    word(file, 1);
    word(file, entryBytes);
  }

  private void putSymbol(ByteBuffer table, SymbolEntry s, int name) {
    table.putInt(name);
    if (is64) {
      table.put((byte) s.info).put((byte) 0).putShort((short) s.section);
      table.putLong(s.value).putLong(s.size);
    } else {
      table.putInt((int) s.value).putInt((int) s.size);
      table.put((byte) s.info).put((byte) 0).putShort((short) s.section);
    }
  }

  private int symbolBytes() {
    return is64 ? 24 : 16;
  }

  private void word(ByteBuffer file, long value) {
    if (is64) {
      file.putLong(value);
    } else {
      file.putInt((int) value);
    }
  }
}
