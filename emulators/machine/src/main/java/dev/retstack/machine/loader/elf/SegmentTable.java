package dev.retstack.machine.loader.elf;

import dev.retstack.machine.memory.Addresses;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The program headers: what is loaded where, and what the program needs besides.
 *
 * @param loads PT_LOAD segments, sorted by address, without overlaps, not empty
 * @param interpreter what PT_INTERP names: the program that loads this one's libraries
 * @param executableStack what PT_GNU_STACK asks for; empty without that header
 * @param notes ranges of the file that hold notes
 * @param files which bytes of the file each PT_LOAD takes, in the order of the file
 * @param bias what was added to every address of the file
 */
record SegmentTable(
    List<Segment> loads,
    Optional<String> interpreter,
    Optional<Boolean> executableStack,
    List<FileRange> notes,
    List<Load> files,
    long bias) {

  /** What Linux takes for a path at most. */
  private static final int PATH_MAX = 4096;

  /** Where bytes of the file are loaded. */
  record Load(FileRange range, long address, int flags) {}

  /** Bytes of the file; inside it, checked. */
  record FileRange(long offset, long size) {}

  /**
   * @param program true where the file starts, and its interpreter counts
   */
  static SegmentTable parse(
      ElfBytes bytes, ElfHeader header, ElfFile.Limits limits, boolean program)
      throws ElfFormatException {
    long bias = header.type() == Elf.ET_DYN ? limits.pieBase() : 0;
    List<Segment> loads = new ArrayList<>();
    List<FileRange> notes = new ArrayList<>();
    List<Load> files = new ArrayList<>();
    List<ProgramHeader> headers = new ArrayList<>();
    List<Segment> headersOnly = new ArrayList<>();
    Optional<String> interpreter = Optional.empty();
    Optional<Boolean> executableStack = Optional.empty();
    long memory = 0;
    for (int i = 0; i < header.programHeaderCount(); i++) {
      ProgramHeader p = ProgramHeader.read(bytes, header, i);
      switch (p.type()) {
        case Elf.PT_INTERP -> {
          if (program) {
            interpreter = Optional.of(interpreter(bytes, p, interpreter));
          }
        }
        case Elf.PT_LOAD -> {
          if (p.memorySize() == 0) {
            continue;
          }
          Segment load = p.toSegment(bytes, bias);
          memory += load.memoryBytes();
          if (memory < 0 || memory > limits.memoryBytesMax()) {
            throw bytes.refuse(
                p.field("p_memsz"),
                p.memorySize() + " (segments so far: " + Long.toUnsignedString(memory) + " bytes)",
                "at most " + limits.memoryBytesMax() + " bytes in all segments",
                "make .bss smaller or raise the memory limit");
          }
          loads.add(load);
          headers.add(p);
          if (p.offset() == 0 && p.fileSize() == header.programHeadersEnd()) {
            headersOnly.add(load);
          }
          files.add(new Load(new FileRange(p.offset(), p.fileSize()), load.address(), p.flags()));
        }
        case Elf.PT_GNU_STACK -> executableStack = Optional.of((p.flags() & Elf.PF_X) != 0);
        case Elf.PT_NOTE -> {
          bytes.requireRange(p.offset(), p.fileSize(), p.field("p_offset"));
          notes.add(new FileRange(p.offset(), p.fileSize()));
        }
        default -> {}
      }
    }
    headersOnly.forEach(load -> makeWay(load, loads));
    loads.sort((a, b) -> Long.compareUnsigned(a.address(), b.address()));
    requireApart(bytes, loads);
    if (program && header.type() == Elf.ET_EXEC && interpreter.isEmpty()) {
      addLoadImages(bytes, header.entry(), headers, loads);
    }
    return new SegmentTable(
        List.copyOf(loads),
        interpreter,
        executableStack,
        List.copyOf(notes),
        List.copyOf(files),
        bias);
  }

  /**
   * GNU ld begins a segment at a page, and puts the headers of the file in front of its sections.
   * Where a script has something else on that page, only the sections are meant.
   */
  private static void makeWay(Segment load, List<Segment> loads) {
    long start = load.address();
    for (Segment other : loads) {
      if (!other.equals(load) && load.overlaps(other)) {
        start = Addresses.higher(start, other.end());
      }
    }
    if (start != load.address()) {
      loads.remove(load);
      if (Long.compareUnsigned(start, load.end()) < 0) {
        loads.add(load.from(start));
      }
    }
  }

  /**
   * Firmware stands in ROM, and its start-up code copies what must be in RAM: that is also where
   * {@code p_paddr} says. Such a file has the code that starts it at the address where it runs. In
   * others, such as a kernel's, {@code p_paddr} means the addresses before paging.
   */
  private static void addLoadImages(
      ElfBytes bytes, long entry, List<ProgramHeader> headers, List<Segment> loads)
      throws ElfFormatException {
    boolean startsInPlace =
        headers.stream()
            .anyMatch(
                p ->
                    p.physical() == p.address()
                        && Long.compareUnsigned(entry - p.address(), p.fileSize()) < 0);
    for (ProgramHeader p : startsInPlace ? headers : List.<ProgramHeader>of()) {
      p.loadImage(bytes)
          .filter(image -> loads.stream().noneMatch(image::overlaps))
          .ifPresent(loads::add);
    }
    loads.sort((a, b) -> Long.compareUnsigned(a.address(), b.address()));
  }

  /** The segment that holds all {@code length} bytes from {@code address} on. */
  Optional<Segment> find(long address, long length) {
    for (Segment load : loads) { // no stream: scans of code ask for each instruction
      if (load.contains(address, length)) {
        return Optional.of(load);
      }
    }
    return Optional.empty();
  }

  /**
   * Bytes that the file gives for memory, in the guest's byte order; empty where the range is not
   * wholly given by one segment of the file.
   */
  Optional<ByteBuffer> data(long address, int length) {
    return find(address, length)
        .filter(s -> address - s.address() + length <= s.data().capacity())
        .map(s -> s.data().slice((int) (address - s.address()), length).order(s.data().order()));
  }

  /** Where the byte at {@code fileOffset} of the file is loaded. */
  Optional<Long> addressOf(long fileOffset) {
    for (Load load : files) {
      if (Long.compareUnsigned(fileOffset - load.range.offset, load.range.size) < 0) {
        return Optional.of(load.address + fileOffset - load.range.offset);
      }
    }
    return Optional.empty();
  }

  /** True where an instruction may start at {@code pc}. */
  boolean executable(long pc) {
    for (Segment s : loads) {
      if (s.executable() && s.contains(pc, 1)) {
        return true;
      }
    }
    return false;
  }

  private static String interpreter(ElfBytes bytes, ProgramHeader p, Optional<String> other)
      throws ElfFormatException {
    if (other.isPresent()) {
      throw bytes.damaged("PT_INTERP", "in two program headers", "in one");
    }
    if (p.fileSize() < 2 || p.fileSize() > PATH_MAX) {
      throw bytes.damaged(
          p.field("p_filesz") + " (PT_INTERP)",
          Long.toUnsignedString(p.fileSize()),
          "2 to %d, a path and a zero".formatted(PATH_MAX));
    }
    ByteBuffer there = bytes.slice(p.offset(), p.fileSize(), p.field("p_offset") + " (PT_INTERP)");
    byte[] path = new byte[there.remaining() - 1];
    there.get(path);
    String name = new String(path, StandardCharsets.UTF_8);
    if (there.get() != 0
        || !name.startsWith("/")
        || name.chars().anyMatch(Character::isISOControl)) {
      throw bytes.damaged(
          "PT_INTERP", "no path that ends with a zero", "the absolute path of a program");
    }
    return name;
  }

  private static void requireApart(ElfBytes bytes, List<Segment> loads) throws ElfFormatException {
    if (loads.isEmpty()) {
      throw bytes.refuse(
          "PT_LOAD", "in no program header", "at least one", "link it: there is nothing to load");
    }
    for (int i = 1; i < loads.size(); i++) {
      Segment before = loads.get(i - 1);
      Segment after = loads.get(i);
      if (Long.compareUnsigned(after.address(), before.end()) < 0) {
        throw bytes.refuse(
            "p_vaddr",
            after + ", which overlaps " + before,
            "segments apart from each other",
            "fix the linker script");
      }
    }
  }

  /** A program header as written in the file. */
  private record ProgramHeader(
      int index,
      int type,
      int flags,
      long offset,
      long address,
      long physical,
      long fileSize,
      long memorySize,
      long align) {

    static ProgramHeader read(ElfBytes bytes, ElfHeader header, int index)
        throws ElfFormatException {
      long at = header.programHeaderOffset() + (long) index * header.programHeaderBytes();
      int w = bytes.wordBytes();
      // The flags moved in the 64-bit class: behind the type, for alignment.
      long flagsAt = header.is64() ? at + 4 : at + 24;
      long first = header.is64() ? at + 8 : at + 4;
      long alignAt = header.is64() ? at + 48 : at + 28;
      return new ProgramHeader(
          index,
          (int) bytes.u32(at, "p_type"),
          (int) bytes.u32(flagsAt, "p_flags"),
          bytes.word(first, "p_offset"),
          bytes.word(first + w, "p_vaddr"),
          bytes.word(first + 2L * w, "p_paddr"),
          bytes.word(first + 3L * w, "p_filesz"),
          bytes.word(first + 4L * w, "p_memsz"),
          bytes.word(alignAt, "p_align"));
    }

    String field(String name) {
      return name + " of program header " + index;
    }

    Segment toSegment(ElfBytes bytes, long bias) throws ElfFormatException {
      if (fileSize < 0 || Long.compareUnsigned(fileSize, memorySize) > 0) {
        throw bytes.damaged(
            field("p_filesz"),
            Long.toUnsignedString(fileSize),
            "at most p_memsz, " + Long.toUnsignedString(memorySize));
      }
      if (align != 0 && Long.bitCount(align) != 1) {
        throw bytes.damaged(field("p_align"), Long.toUnsignedString(align), "0 or a power of two");
      }
      long start = address + bias;
      if (Long.compareUnsigned(start, address) < 0 || !fits(bytes, start, memorySize)) {
        throw bytes.damaged(
            field("p_vaddr"),
            "0x%x with %s bytes".formatted(address, Long.toUnsignedString(memorySize)),
            "a range that ends below 0x%x".formatted(top(bytes)));
      }
      return segment(bytes, start, memorySize, (flags & Elf.PF_W) != 0);
    }

    /** What a ROM holds of the segment; empty where it cannot stand there. */
    Optional<Segment> loadImage(ElfBytes bytes) throws ElfFormatException {
      return physical != address && fileSize > 0 && fits(bytes, physical, fileSize)
          ? Optional.of(segment(bytes, physical, fileSize, false))
          : Optional.empty();
    }

    private Segment segment(ElfBytes bytes, long start, long size, boolean writable)
        throws ElfFormatException {
      return new Segment(
          start,
          size,
          bytes.slice(offset, fileSize, field("p_offset")),
          (flags & Elf.PF_R) != 0,
          writable,
          (flags & Elf.PF_X) != 0);
    }

    private static boolean fits(ElfBytes bytes, long start, long size) {
      long top = top(bytes);
      return size >= 0
          && Long.compareUnsigned(start, top) <= 0
          && Long.compareUnsigned(size, top - start) <= 0;
    }

    /** The last pages of the address space stay free: an end of 0 would wrap. */
    private static long top(ElfBytes bytes) {
      return (bytes.is64() ? -1L : 0xFFFF_FFFFL) - 0xFFFF;
    }
  }
}
