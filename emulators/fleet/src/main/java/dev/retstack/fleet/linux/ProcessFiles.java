package dev.retstack.fleet.linux;

import dev.retstack.fleet.linux.file.FileTable;
import dev.retstack.fleet.linux.file.OpenFile;
import dev.retstack.fleet.linux.shared.AddressRanges;
import dev.retstack.fleet.linux.shared.MappedFile;
import dev.retstack.fleet.linux.shared.Sysroot;
import dev.retstack.fleet.loader.elf.ElfFile;
import dev.retstack.fleet.loader.elf.Segment;
import dev.retstack.fleet.memory.GuestMemory;
import dev.retstack.fleet.memory.Mapping;
import dev.retstack.fleet.thread.Threads;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The files below {@code /proc} about the process: its memory, its state, its program; and the one
 * about its processors.
 */
final class ProcessFiles implements FileTable.Words {
  /** Where C libraries read how many processors there are: one, number 0. */
  private static final String PROCESSORS = "/sys/devices/system/cpu/online";

  private static final Pattern NAME = Pattern.compile("/proc/(?:self|1000)/(maps|stat|exe)");

  private final GuestMemory memory;
  private final AddressSpace space;
  private final Threads threads;
  private final ThreadNames threadNames;
  private final ElfFile image;
  private final Optional<Sysroot> sysroot;
  private final String executable;
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
      String executable) {
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
    if (name.equals(PROCESSORS)) {
      return Optional.of(new OpenFile.Text(() -> "0\n"));
    }
    Matcher match = NAME.matcher(name);
    if (!match.matches()) {
      return threadNames.find(name);
    }
    return switch (match.group(1)) {
      case "maps" -> Optional.of(new OpenFile.Text(() -> maps(numbers)));
      case "stat" -> Optional.of(new OpenFile.Text(this::stat));
      default -> Optional.empty();
    };
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
    String name =
        new String(
            threads.find(Threads.FIRST).orElseGet(threads::current).name(), StandardCharsets.UTF_8);
    long id = ProcessCalls.PROCESS;
    return "%d (%s) R 1 %d %d 0 -1 0 0 0 0 0 %d 0 0 0 20 0 %d 0 0 %d %d %s %s %s"
            .formatted(
                id,
                name,
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

  private String range(Predicate<Segment> which) {
    return image.segments().stream()
        .filter(which)
        .findFirst()
        .map(s -> Long.toUnsignedString(s.address()) + " " + Long.toUnsignedString(s.end()))
        .orElse("0 0");
  }
}
