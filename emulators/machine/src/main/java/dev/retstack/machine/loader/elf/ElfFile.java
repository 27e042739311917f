package dev.retstack.machine.loader.elf;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.schema.record.FunctionName;
import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A program as its file describes it: an ELF executable of any machine, 32-bit or 64-bit, of either
 * byte order, or a shared object. Immutable.
 *
 * <p>All addresses are those in the guest's memory. If the file is position-independent, {@link
 * #bias} has been added to them.
 */
public final class ElfFile {
  /**
   * A place whose bytes a linker computes, or has computed, from a symbol.
   *
   * @param address of the place
   * @param type number, as the ABI of the ISA lists them
   * @param symbol its name
   */
  public record Relocation(long address, int type, String symbol) {}

  /**
   * A function that a program calls and another file defines, by the names that the tracer knows.
   *
   * @param name of the function
   * @param symbolAddress of its entry in the program's table of dynamic symbols
   * @param slots addresses of the words in which its address is put
   */
  public record Import(String name, long symbolAddress, List<Long> slots) {
    public Import {
      slots = List.copyOf(slots);
    }
  }

  /** What is read of a file, which may be more than programs. */
  private enum Reading {
    PROGRAM,
    PROGRAM_OR_OBJECT,
    SHARED_OBJECT
  }

  /**
   * What a file may ask for. A limit on everything: a few bytes of header can otherwise demand
   * terabytes.
   *
   * @param fileBytesMax largest file that is read
   * @param memoryBytesMax largest sum of the sizes in memory of all segments
   * @param pieBase address at which a position-independent executable is placed; page-aligned
   */
  public record Limits(long fileBytesMax, long memoryBytesMax, long pieBase) {

    /** 512 MiB of file, 256 MiB of guest memory, position-independent programs at 0x20000000. */
    public static final Limits DEFAULT = new Limits(512L << 20, 256L << 20, 0x2000_0000L);

    /** Checks that the limits themselves make sense. */
    public Limits {
      if (fileBytesMax <= 0 || memoryBytesMax <= 0) {
        throw new IllegalArgumentException(
            "limits must be positive: file " + fileBytesMax + ", memory " + memoryBytesMax);
      }
      if (pieBase < 0 || (pieBase & 0xFFFF) != 0) {
        throw new IllegalArgumentException(
            "base 0x" + Long.toHexString(pieBase) + " is not a multiple of 64 KiB");
      }
    }
  }

  /** Smallest page of Linux. */
  private static final long PAGE = 4096;

  private final String name;
  private final Path file;
  private final ElfBytes bytes;
  private final ElfHeader header;
  private final SegmentTable segments;
  private final SectionTable sections;
  private final FunctionTable functions;
  private final Map<String, Symbol> symbols;
  private final long entry;
  private final OptionalLong entryToc;
  private final InstructionSets sets;
  private final String buildId;
  private final List<Long> mcountLoc;
  private final List<Long> patchableSites;
  private final List<Relocation> relocations;
  private final List<Import> imports;
  private final boolean relocatable;
  private final boolean shared;
  private final List<String> warnings;

  private ElfFile(byte[] original, String name, Path file, Limits limits, Reading what)
      throws ElfFormatException {
    this.shared = what == Reading.SHARED_OBJECT;
    this.relocatable =
        what == Reading.PROGRAM_OR_OBJECT && ElfHeader.typeOf(original, name) == Elf.ET_REL;
    byte[] content = relocatable ? ObjectLayout.layOut(original, name) : original;
    this.bytes = ElfHeader.open(content, name);
    List<String> found = new ArrayList<>();
    this.name = name;
    this.file = file;
    this.header = ElfHeader.parse(bytes);
    this.segments = SegmentTable.parse(bytes, header, limits, !shared);
    this.sections = SectionTable.parse(bytes, header, segments.bias());
    this.sets = new InstructionSets(header);
    FunctionDescriptors descriptors = new FunctionDescriptors(bytes, segments, sections);
    List<Symbol> all =
        descriptors.resolve(
            sets.resolve(new SymbolReader(bytes, header, sections, segments.bias(), found).read()));
    long start = sets.instruction(header.entry() + segments.bias());
    Optional<FunctionDescriptors.Descriptor> first =
        shared ? Optional.empty() : descriptors.at(start, "that e_entry names");
    this.entry = first.map(FunctionDescriptors.Descriptor::code).orElse(start);
    this.entryToc = first.stream().mapToLong(FunctionDescriptors.Descriptor::toc).findFirst();
    this.functions = FunctionTable.of(all, segments, sections);
    this.symbols = byName(all);
    this.buildId = BuildId.of(bytes, notes(), original);
    this.relocations = RelocationTable.of(bytes, header, sections.sections(), segments.bias());
    this.imports = ImportTable.of(bytes, header, sections.sections(), segments.bias());
    SiteTables sites = new SiteTables(this, bytes, found);
    this.mcountLoc = sites.mcountLoc();
    this.patchableSites = sites.patchable();
    this.warnings = List.copyOf(found);
    if (!shared && !segments.executable(entry)) {
      throw bytes.refuse(
          "e_entry",
          "0x%x".formatted(header.entry()),
          "an address in an executable segment",
          "link a program with an entry point (a shared library cannot be run)");
    }
  }

  /**
   * Reads and checks a file within the default limits.
   *
   * @throws ElfFormatException where the file is not a program that can be run
   * @throws IOException where it cannot be read
   */
  public static ElfFile parse(Path file) throws IOException {
    return parse(file, Limits.DEFAULT);
  }

  /** Reads and checks a file within the given limits. */
  public static ElfFile parse(Path file, Limits limits) throws IOException {
    return parse(file, limits, Reading.PROGRAM);
  }

  /**
   * Reads a program or a relocatable object (.o, .ko). The sections of an object are given
   * addresses that mean nothing: {@link #place} shows what they stand for. It cannot be run.
   */
  public static ElfFile parseUnlinked(Path file) throws IOException {
    return parse(file, Limits.DEFAULT, Reading.PROGRAM_OR_OBJECT);
  }

  /** Reads a shared object, its addresses as the file has them. */
  public static ElfFile parseShared(Path file) throws IOException {
    Limits limits = new Limits(Limits.DEFAULT.fileBytesMax, Limits.DEFAULT.memoryBytesMax, 0);
    return parse(file, limits, Reading.SHARED_OBJECT);
  }

  private static ElfFile parse(Path file, Limits limits, Reading what) throws IOException {
    Path last = file.getFileName();
    String name = last == null ? file.toString() : last.toString();
    if (Files.exists(file) && !Files.isRegularFile(file)) {
      throw new ElfFormatException(
          name, "the file type", "a folder or device", "a regular file", "give an ELF program");
    }
    long size = Files.size(file);
    if (size > limits.fileBytesMax()) {
      throw tooLarge(name, size, limits);
    }
    return new ElfFile(Files.readAllBytes(file), name, file.toAbsolutePath(), limits, what);
  }

  /** Checks the bytes of a file; they are not copied and must not change afterwards. */
  public static ElfFile parse(byte[] content, String name) throws ElfFormatException {
    return parse(content, name, Limits.DEFAULT);
  }

  /** Checks the bytes of a file within the given limits. */
  public static ElfFile parse(byte[] content, String name, Limits limits)
      throws ElfFormatException {
    if (content.length > limits.fileBytesMax()) {
      throw tooLarge(name, content.length, limits);
    }
    return new ElfFile(content, name, null, limits, Reading.PROGRAM);
  }

  /** Checks the bytes of a program or a relocatable object. */
  public static ElfFile parseUnlinked(byte[] content, String name) throws ElfFormatException {
    return new ElfFile(content, name, null, Limits.DEFAULT, Reading.PROGRAM_OR_OBJECT);
  }

  /** File name of the image without its folder. */
  public String name() {
    return name;
  }

  /** Absolute path of the file it was read from; empty where it was parsed from bytes. */
  public Optional<Path> file() {
    return Optional.ofNullable(file);
  }

  /** {@code e_machine}: 62 x86_64, 183 aarch64, 243 riscv, ... */
  public int machine() {
    return header.machine();
  }

  /** Name of the machine and its class for messages: {@code riscv64}, {@code ppc32 big-endian}. */
  public String machineName() {
    String name = Isas.machineName(header.machine(), wordBytes());
    return name + (header.bigEndian() ? " big-endian" : "");
  }

  /** True for the 64-bit class. */
  public boolean is64() {
    return header.is64();
  }

  /** True for big-endian files and guests. */
  public boolean bigEndian() {
    return header.bigEndian();
  }

  /** Byte order of the guest. */
  public ByteOrder order() {
    return header.bigEndian() ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
  }

  /** Bytes of an address: 4 or 8. */
  public int wordBytes() {
    return header.is64() ? 8 : 4;
  }

  /** {@code e_flags}; the meaning is the machine's own. */
  public int flags() {
    return header.flags();
  }

  /** True for a position-independent executable, which is placed at {@link #bias}. */
  public boolean positionIndependent() {
    return header.type() == Elf.ET_DYN;
  }

  /** What was added to every address of the file: 0 unless position-independent. */
  public long bias() {
    return segments.bias();
  }

  /** Address of the first instruction. */
  public long entry() {
    return entry;
  }

  /** What {@code e_entry} says, where it stands: of ELFv1 a descriptor. */
  public long entryWord() {
    return header.entry() + segments.bias();
  }

  /** What to jump to, to run the function at an address: in which instruction set. */
  public long jumpTarget(long function) {
    return secondInstructionSet(function) ? function | 1 : function;
  }

  /**
   * True where the function that begins at an address is of the ISA's second instruction set: bit 0
   * of its address is set where it is jumped to (ARM: Thumb).
   */
  public boolean secondInstructionSet(long function) {
    return sets.second(function);
  }

  /**
   * What the TOC register must be at {@link #entry}, where {@code e_entry} names a function
   * descriptor (ppc64 ELFv1).
   */
  public OptionalLong entryToc() {
    return entryToc;
  }

  /** What is loaded: sorted by address, without overlaps, at least one. */
  public List<Segment> segments() {
    return segments.loads();
  }

  /**
   * The program that loads the libraries of this one (PT_INTERP), an absolute path; empty for a
   * program without libraries.
   */
  public Optional<String> interpreter() {
    return segments.interpreter();
  }

  /** Functions of other files that the tracer must know of; empty for a program without. */
  public List<Import> imports() {
    return imports;
  }

  /**
   * The words that get the address of a function or variable of another file, with its name.
   *
   * @throws ElfFormatException where a table says what cannot be
   */
  public Long2ObjectMap<String> importSlots() throws ElfFormatException {
    return ImportTable.slots(bytes, header, sections.sections(), segments.bias());
  }

  /** True where PT_GNU_STACK asks for an executable stack; empty without that header. */
  public Optional<Boolean> executableStack() {
    return segments.executableStack();
  }

  /** Address of the program headers in memory (AT_PHDR), where a segment holds them. */
  public Optional<Long> programHeadersAddress() {
    return segments.addressOf(header.programHeaderOffset());
  }

  /**
   * Pages of the file that are loaded to be executed.
   *
   * @param address of the first
   * @param fileOffset of the first
   * @param size bytes, whole pages
   * @param protection PROT_READ 1, PROT_WRITE 2, PROT_EXEC 4
   */
  public record FilePages(long address, long fileOffset, long size, int protection) {}

  private static final int PROT_EXEC = 4;

  /** Pages of all executable segments. */
  public List<FilePages> codePages() {
    return filePages().stream().filter(pages -> (pages.protection() & PROT_EXEC) != 0).toList();
  }

  /** Pages of all segments, as far as the file fills them. */
  public List<FilePages> filePages() {
    List<FilePages> pages = new ArrayList<>();
    for (SegmentTable.Load load : segments.files()) {
      long start = load.address() & -PAGE;
      long end = load.address() + load.range().size();
      pages.add(
          new FilePages(
              start,
              load.range().offset() & -PAGE,
              (end - start + PAGE - 1) & -PAGE,
              Integer.reverse(load.flags()) >>> 29));
    }
    return pages;
  }

  /** The page to which the page at an offset of the file is loaded as the first of a segment. */
  public OptionalLong pageLoadedFrom(long fileOffset) {
    return segments.files().stream()
        .filter(load -> (load.range().offset() & -PAGE) == fileOffset)
        .filter(load -> (load.flags() & Elf.PF_X) != 0)
        .mapToLong(load -> load.address() & -PAGE)
        .findFirst();
  }

  /** Bytes of one program header (AT_PHENT). */
  public int programHeaderBytes() {
    return header.programHeaderBytes();
  }

  /** Number of program headers (AT_PHNUM). */
  public int programHeaderCount() {
    return header.programHeaderCount();
  }

  /** Sections in the order of the file; empty where it has none. */
  public List<Section> sections() {
    return sections.sections();
  }

  /** The first section of that name. */
  public Optional<Section> section(String wanted) {
    return sections.find(wanted);
  }

  /**
   * Bytes that the file has of a section, as they stand there, in the guest's byte order; empty
   * where it has none.
   *
   * @throws ElfFormatException where they are not in the file
   */
  public Optional<ByteBuffer> content(Section section) throws ElfFormatException {
    return section.type() == Elf.SHT_NOBITS
        ? Optional.empty()
        : Optional.of(bytes.slice(section.offset(), section.size(), section.name()));
  }

  /** The ISA that the file is of; empty where it is not traced. */
  public Optional<Isa> isa() {
    return header.isa();
  }

  /** Functions, one name per address, sorted by address, without overlaps. */
  public List<Symbol> functions() {
    return functions.functions();
  }

  /** Variables of known size, sorted by address as signed numbers. */
  public List<Symbol> objects() {
    return symbols.values().stream()
        .filter(s -> s.kind() == Symbol.Kind.OBJECT && s.size() > 0)
        .sorted(Comparator.comparingLong(Symbol::address).thenComparing(Symbol::name))
        .toList();
  }

  /** The function that holds {@code pc}. */
  public Optional<Symbol> functionAt(long pc) {
    return functions.find(pc);
  }

  /** Bytes from an address to the next function; a large number behind the last. */
  public long bytesToNext(long address) {
    return functions.bytesToNext(address);
  }

  /** All names of a function of {@link #functions}. */
  public FunctionName name(Symbol function) {
    return functions.name(function);
  }

  /** Any defined symbol by name, aliases included; of several the one that reaches furthest. */
  public Optional<Symbol> symbol(String wanted) {
    return Optional.ofNullable(symbols.get(wanted));
  }

  /** Lower-case hex of the GNU build-id note, or {@code sha256:} and the digest of the file. */
  public String buildId() {
    return buildId;
  }

  /** Call sites that {@code __mcount_loc} lists (gcc -mrecord-mcount), sorted; often empty. */
  public List<Long> mcountLoc() {
    return mcountLoc;
  }

  /** Sites that {@code __patchable_function_entries} lists, sorted; often empty. */
  public List<Long> patchableSites() {
    return patchableSites;
  }

  /** Relocations of code against counting functions, sorted by address; mostly empty. */
  public List<Relocation> relocations() {
    return relocations;
  }

  /** True for a relocatable object, which was not linked and cannot be run. */
  public boolean relocatable() {
    return relocatable;
  }

  /** True where it was read as a shared object: another program starts. */
  public boolean shared() {
    return shared;
  }

  /** The section of an object that holds an address; empty for a program. */
  public Optional<Section> place(long address) {
    return relocatable
        ? sections().stream().filter(s -> s.contains(address)).findFirst()
        : Optional.empty();
  }

  /** What was odd but did not prevent loading; sentences. */
  public List<String> warnings() {
    return warnings;
  }

  /** True where an instruction may start at {@code pc}. */
  public boolean executableAt(long pc) {
    return segments.executable(pc);
  }

  /**
   * Bytes that the file gives for guest memory, in the guest's byte order; empty where the range is
   * not wholly given by one segment of the file.
   */
  public Optional<ByteBuffer> memory(long address, int length) {
    return segments.data(address, length);
  }

  /** The file's bytes by guest address, for who reads code; 0 where the file gives none. */
  public Code codeReader() {
    return address -> {
      Optional<ByteBuffer> whole = memory(address, Long.BYTES);
      if (whole.isPresent()) {
        return whole.get().order(ByteOrder.LITTLE_ENDIAN).getLong(0);
      }
      long code = 0;
      for (int i = 0; i < Long.BYTES; i++) {
        code |= memory(address + i, 1).map(b -> b.get(0) & 0xFFL).orElse(0L) << (Byte.SIZE * i);
      }
      return code;
    };
  }

  /** A reader of code that is fast in a range of which much is read. */
  public Code codeOf(long start, int length) {
    Optional<ByteBuffer> whole = memory(start, length);
    Code beyond = codeReader();
    if (whole.isEmpty()) {
      return beyond;
    }
    ByteBuffer bytes = ByteBuffer.allocate(length + Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
    bytes.put(whole.get().duplicate());
    return address -> {
      long at = address - start;
      return at < 0 || at > length ? beyond.at(address) : bytes.getLong((int) at);
    };
  }

  /** True where a function stands, or an executable section; a segment where there are none. */
  public boolean hasCodeAt(long pc) {
    return functionAt(pc).isPresent()
        || (sections.code().isEmpty()
            ? executableAt(pc)
            : sections.code().stream()
                .anyMatch(s -> Long.compareUnsigned(pc - s.address(), s.size()) < 0));
  }

  /** Code to scan: executable sections, or executable segments where there are no sections. */
  public List<CodeRange> code() {
    List<CodeRange> ranges = new ArrayList<>();
    for (Section s : sections.code()) {
      if (s.type() != Elf.SHT_NOBITS && s.size() <= Integer.MAX_VALUE) {
        memory(s.address(), (int) s.size())
            .ifPresent(b -> ranges.add(new CodeRange(s.address(), b)));
      }
    }
    if (ranges.isEmpty()) {
      for (Segment s : segments.loads()) {
        if (s.executable()) {
          ranges.add(new CodeRange(s.address(), s.data()));
        }
      }
    }
    return List.copyOf(ranges);
  }

  /**
   * Instructions as the file gives them.
   *
   * @param address of the first byte
   * @param bytes in the guest's byte order
   */
  public record CodeRange(long address, ByteBuffer bytes) {}

  /** Segments name the notes that are loaded; sections also those that are not. */
  private List<SegmentTable.FileRange> notes() {
    List<SegmentTable.FileRange> ranges = new ArrayList<>(segments.notes());
    for (Section s : sections.sections()) {
      if (s.type() == Elf.SHT_NOTE) {
        ranges.add(new SegmentTable.FileRange(s.offset(), s.size()));
      }
    }
    return ranges;
  }

  private static Map<String, Symbol> byName(List<Symbol> all) {
    Map<String, Symbol> map = HashMap.newHashMap(all.size());
    for (Symbol s : all) {
      map.merge(s.name(), s, (a, b) -> b.binding().compareTo(a.binding()) < 0 ? b : a);
    }
    return map;
  }

  private static ElfFormatException tooLarge(String name, long size, Limits limits) {
    return new ElfFormatException(
        name,
        "the file size",
        size + " bytes",
        "at most " + limits.fileBytesMax(),
        "strip debug information or raise the limit");
  }
}
