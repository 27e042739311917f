package dev.retstack.machine.linux;

import dev.retstack.machine.linux.file.FileTable;
import dev.retstack.machine.linux.file.OpenFile;
import dev.retstack.machine.linux.shared.AddressRanges;
import dev.retstack.machine.linux.shared.MappedFile;
import dev.retstack.machine.linux.shared.Sysroot;
import dev.retstack.machine.linux.thread.Threads;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Segment;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.machine.memory.Mapping;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The files below {@code /proc} about the process: its memory, its state, its program; and the one
 * about its machine.
 */
final class ProcessFiles implements FileTable.Words {
  private static final Pattern NAME =
      Pattern.compile("/proc/(?:self|1000)/(maps|stat|statm|status|cmdline|environ|exe)");

  private static final long KIB = 1024;

  private final GuestMemory memory;
  private final AddressSpace space;
  private final Threads threads;
  private final ThreadNames threadNames;
  private final ElfFile image;
  private final Optional<Sysroot> sysroot;
  private final String executable;
  private final LinuxOptions options;
  private long firstStackPointer;

  /**
   * @param executable what the program calls its own file
   */
  ProcessFiles(
      GuestMemory memory,
      AddressSpace space,
      Threads threads,
      ThreadNames threadNames,
      ElfFile image,
      Optional<Sysroot> sysroot,
      String executable,
      LinuxOptions options) {
    this.options = options;
    this.memory = memory;
    this.space = space;
    this.threads = threads;
    this.threadNames = threadNames;
    this.image = image;
    this.sysroot = sysroot;
    this.executable = executable;
  }

  /** The program starts. */
  void started(long stackPointer) {
    firstStackPointer = stackPointer;
  }

  @Override
  public Optional<OpenFile> find(String name, ToLongFunction<Path> numbers) {
    Optional<OpenFile> ofMachine = ofMachine(name);
    if (ofMachine.isPresent()) {
      return ofMachine;
    }
    Matcher match = NAME.matcher(name);
    if (!match.matches()) {
      return threadNames.find(name);
    }
    return switch (match.group(1)) {
      case "maps" -> text(() -> maps(numbers));
      case "stat" -> text(this::stat);
      case "statm" -> text(this::sizes);
      case "status" -> text(this::status);
      case "cmdline" -> text(() -> strings(options.arguments().stream()));
      case "environ" ->
          text(
              () ->
                  strings(
                      options.environment().entrySet().stream()
                          .map(e -> e.getKey() + "=" + e.getValue())));
      default -> Optional.empty();
    };
  }

  private Optional<OpenFile> ofMachine(String name) {
    return switch (name) {
      case "/sys/devices/system/cpu/online", "/sys/devices/system/cpu/possible" ->
          text(() -> "0\n");
      case "/proc/sys/vm/overcommit_memory" -> text(() -> "0\n"); // heuristic, the default
      case "/proc/meminfo" -> text(this::memoryInformation);
      default -> Optional.empty();
    };
  }

  private static Optional<OpenFile> text(Supplier<String> source) {
    return Optional.of(new OpenFile.Text(source));
  }

  private static String strings(Stream<String> all) {
    return all.map(one -> one + "\0").collect(Collectors.joining());
  }

  private String memoryInformation() {
    long all = options.memoryBytesMax() / KIB;
    long free = Math.max(0, all - space.visibleBytes() / KIB);
    return "MemTotal:%15d kB\nMemFree:%16d kB\nMemAvailable:%11d kB\n".formatted(all, free, free);
  }

  /** The seven fields of {@code proc_pid_statm(5)}: all that is mapped counts as resident. */
  private String sizes() {
    long pages = space.visibleBytes() / GuestMemory.PAGE;
    return "%d %d 0 0 0 0 0\n".formatted(pages, pages);
  }

  /** The lines of {@code proc_pid_status(5)} that programs read. */
  private String status() {
    long id = ProcessCalls.PROCESS;
    long user = ProcessCalls.USER;
    long size = space.visibleBytes() / KIB;
    String users = "%d\t%d\t%d\t%d".formatted(user, user, user, user);
    return """
    Name:\t%s
    State:\tR (running)
    Tgid:\t%d
    Pid:\t%d
    PPid:\t1
    TracerPid:\t0
    Uid:\t%s
    Gid:\t%s
    VmPeak:\t%8d kB
    VmSize:\t%8d kB
    VmRSS:\t%8d kB
    Threads:\t%d
    """
        .formatted(name(), id, id, users, users, size, size, size, threads.all().size());
  }

  @Override
  public Optional<Path> program(String name) {
    Matcher match = NAME.matcher(name);
    boolean isLink = match.matches() && match.group(1).equals("exe");
    return isLink || name.equals(executable) ? image.file() : Optional.empty();
  }

  /** A line of {@code maps}; without the tracer's pages. */
  private static final class Row {
    final long start;
    final int permissions;
    final Optional<MappedFile> piece;
    final String label;
    long end;

    Row(long start, int permissions, Optional<MappedFile> piece, String label) {
      this.start = start;
      this.permissions = permissions;
      this.piece = piece;
      this.label = label;
      this.end = start;
    }

    boolean continuesAt(long page, int perms, Optional<MappedFile> of, String name) {
      return end == page && permissions == perms && piece.equals(of) && label.equals(name);
    }

    /** As {@code fs/proc/task_mmu.c} writes it. */
    String line(int wordBytes) {
      String text =
          "%08x-%08x %s%s%s%s %08x 00:00 %d "
              .formatted(
                  start,
                  end,
                  (permissions & GuestMemory.READ) != 0 ? "r" : "-",
                  (permissions & GuestMemory.WRITE) != 0 ? "w" : "-",
                  (permissions & GuestMemory.EXECUTE) != 0 ? "x" : "-",
                  piece.filter(MappedFile::shared).isPresent() ? "s" : "p",
                  piece.map(p -> p.offset() + (start - p.start())).orElse(0L),
                  piece.map(MappedFile::inode).orElse(0L));
      String name = piece.map(MappedFile::name).orElse(label);
      int width = 25 + wordBytes * 6 - 1;
      String padding = name.isEmpty() ? "" : " ".repeat(Math.max(0, width - text.length()) + 1);
      return text + padding + name + "\n";
    }
  }

  private String maps(ToLongFunction<Path> numbers) {
    AddressRanges<MappedFile> loaded = new AddressRanges<>();
    load(image, executable, numbers, loaded);
    sysroot.ifPresent(
        root -> load(root.interpreter(), image.interpreter().orElseThrow(), numbers, loaded));
    List<Row> rows = new ArrayList<>();
    for (Mapping mapping : memory.mappings()) {
      long end = mapping.start() + mapping.host().byteSize();
      for (long page = mapping.start(); page != end; page += GuestMemory.PAGE) {
        Optional<String> label = space.label(page);
        if (label.isEmpty()) {
          continue;
        }
        long at = page;
        Optional<MappedFile> piece = space.files().at(page).or(() -> loaded.at(at));
        int permissions = memory.permissionsAt(page);
        if (rows.isEmpty() || !rows.getLast().continuesAt(page, permissions, piece, label.get())) {
          rows.add(new Row(page, permissions, piece, label.get()));
        }
        rows.getLast().end = page + GuestMemory.PAGE;
      }
    }
    return rows.stream().map(row -> row.line(memory.wordBytes())).collect(Collectors.joining());
  }

  private static void load(
      ElfFile elf, String name, ToLongFunction<Path> numbers, AddressRanges<MappedFile> into) {
    long number = elf.file().map(numbers::applyAsLong).orElse(0L);
    for (ElfFile.FilePages pages : elf.filePages()) {
      long start = pages.address();
      into.add(
          start,
          start + pages.size(),
          new MappedFile(start, pages.fileOffset(), number, name, false));
    }
  }

  /** The 52 fields of {@code proc_pid_stat(5)}; what the core does not know is 0. */
  private String stat() {
    long ticks = threads.coreNs() / ProcessCalls.TICK_NS;
    long bytes = space.visibleBytes();
    String limit = memory.wordBytes() == Long.BYTES ? "18446744073709551615" : "4294967295";
    String code = range(Segment::executable);
    String data = range(Segment::writable);
    long id = ProcessCalls.PROCESS;
    return "%d (%s) R 1 %d %d 0 -1 0 0 0 0 0 %d 0 0 0 20 0 %d 0 0 %d %d %s %s %s"
            .formatted(
                id,
                name(),
                id,
                id,
                ticks,
                threads.all().size(),
                bytes,
                bytes / GuestMemory.PAGE,
                limit,
                code,
                Long.toUnsignedString(firstStackPointer))
        + " 0 0 0 0 0 0 0 0 0 17 0 0 0 0 0 0 %s %d 0 0 0 0 0\n".formatted(data, space.breakStart());
  }

  private String name() {
    return new String(
        threads.find(Threads.FIRST).orElseGet(threads::current).name(), StandardCharsets.UTF_8);
  }

  private String range(Predicate<Segment> which) {
    return image.segments().stream()
        .filter(which)
        .findFirst()
        .map(s -> Long.toUnsignedString(s.address()) + " " + Long.toUnsignedString(s.end()))
        .orElse("0 0");
  }
}
