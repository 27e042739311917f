package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.probe.task.TaskFunctions;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.shared.Sysroot;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.memory.Ram;
import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.TypeConversionException;

/** Which program runs, on how many cores, and its environment. */
public final class ProgramOptions {
  @Option(
      names = "--image",
      paramLabel = "ELF",
      description =
          "Program to run: built with -pg or -mfentry, for Linux or freestanding; or an image"
              + " of the checkout by name, such as zoo-riscv64-mcount. May be repeated.")
  private final List<String> images = new ArrayList<>();

  @Option(
      names = "--isa",
      paramLabel = "ISA",
      description =
          "Refuse an image of another ISA. Without this option, the ISA is that of the image.")
  private String isa;

  @Option(
      names = "--entry",
      paramLabel = "SYMBOL|ADDRESS",
      description = "Begin here instead of at the image's entry point, for bare metal.")
  private String entry;

  @Option(
      names = "--cores",
      defaultValue = "1",
      paramLabel = "N",
      description = "Cores per image (default: ${DEFAULT-VALUE}).")
  private int cores;

  @Option(
      names = "--arg",
      paramLabel = "ARG",
      description = "An argument of the program; may be repeated. Arguments may also follow --.")
  private final List<String> arguments = new ArrayList<>();

  @Option(
      names = "--env",
      paramLabel = "KEY=VALUE",
      description =
          "A variable of the program's environment, which is empty otherwise; may be"
              + " repeated.")
  private final Map<String, String> environment = new LinkedHashMap<>();

  @Option(
      names = "--stdin",
      paramLabel = "FILE",
      description =
          "The program's standard input (default: that of this command if there is one core,"
              + " else none).")
  private Path stdin;

  @Option(
      names = "--readable",
      paramLabel = "PATH",
      description = "A file or folder of this machine that the program may read; may be repeated.")
  private final List<Path> readable = new ArrayList<>();

  @Option(
      names = "--writable",
      paramLabel = "DIR",
      description =
          "A folder of this machine in which the program may make, change and remove files; may be"
              + " repeated. The program begins in the first one, and /tmp leads there. If there are"
              + " several cores, each has a folder in it that is named after the core.")
  private final List<Path> writable = new ArrayList<>();

  @Option(
      names = "--sysroot",
      paramLabel = "DIR",
      description =
          "Where the shared objects of a dynamically linked program are, as below its own root"
              + " folder (default: this machine's, or /usr/TRIPLET of the program's ISA).")
  private Path sysroot;

  @Option(
      names = "--libcalls",
      description =
          "Trace calls of functions in shared objects that are not instrumented too, under the"
              + " names of these functions. The program must be dynamically linked.")
  private boolean libraryCalls;

  @Option(
      names = "--clock",
      defaultValue = "virtual",
      paramLabel = "CLOCK",
      description = "virtual (default) counts executed instructions, host counts nanoseconds.")
  private CoreOptions.Clock clock;

  @Option(
      names = "--ram",
      paramLabel = "BASE:SIZE",
      description = "Memory of the board in addition to the image, such as 0x20000000:64K.",
      converter = RamConverter.class)
  private final List<Ram> ram = new ArrayList<>();

  @Option(
      names = "--timer",
      paramLabel = "PERIOD:HANDLER",
      description =
          "Interrupt the program every PERIOD instructions. HANDLER(frame, number) returns"
              + " the frame to continue with. May be repeated; numbers count from 0. See"
              + " emulators/guest/README.md.",
      converter = TimerConverter.class)
  private final List<InterruptTimer> timers = new ArrayList<>();

  @Option(
      names = "--label",
      paramLabel = "KEY=VALUE",
      description =
          "A label by which commands select these cores: retstack trace --target"
              + " label.KEY=VALUE. May be repeated.")
  private final Map<String, String> labels = new LinkedHashMap<>();

  @Mixin private LimitOptions limits;

  @Mixin private ProbeOption probe;

  @Mixin private TraceOptions trace;

  @Mixin private TaskDeclaration tasks;

  @Mixin private ThreadOptions threads;

  @Parameters(
      paramLabel = "ARG",
      arity = "0..*",
      description = "Arguments of the program, after --.")
  private final List<String> rest = new ArrayList<>();

  /** Image names as given; may be empty. */
  public List<String> images() {
    return images;
  }

  /**
   * Checks what can be checked without an image.
   *
   * @throws CommandException in one sentence
   */
  public void check() {
    if (isa != null && Isas.find(isa).isEmpty()) {
      throw CommandException.badInput(
          "no such ISA: %s; --isa takes %s".formatted(isa, Isas.names()));
    }
    if (stdin != null && (!Files.isReadable(stdin) || Files.isDirectory(stdin))) {
      throw CommandException.badInput(
          "as standard input: "
              + FileTrouble.whyNotRead(stdin, new NoSuchFileException(stdin.toString())));
    }
    for (Path folder : writable) {
      if (!Files.isDirectory(folder) || !Files.isWritable(folder)) {
        throw CommandException.badInput(
            "--writable %s is not a folder that can be written to: make it first"
                .formatted(Visible.line(folder.toString())));
      }
    }
    try {
      CoreIdentity.checkLabels(labels);
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
    var _ = options();
  }

  /**
   * Checks an image that was loaded against what the user said of it.
   *
   * @throws ElfFormatException where it is of another ISA, has no call sites, no such entry, no
   *     such handler, or lacks what its tasks are distinguished by
   */
  public void check(LoadedImage image) throws ElfFormatException {
    if (isa != null) {
      image.requireIsa(Isas.find(isa).orElseThrow());
    }
    image.requireCallSites();
    if (image.elf().interpreter().isPresent()) {
      requireSysroot(image);
    }
    if (libraryCalls) {
      image.requireLibraryCalls();
    }
    if (entry != null) {
      image.entry(entry);
    }
    for (InterruptTimer timer : timers) {
      timer.address(image);
    }
    try {
      TaskFunctions.of(image, tasks.options());
    } catch (IllegalArgumentException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }

  private void requireSysroot(LoadedImage image) throws ElfFormatException {
    try {
      Sysroot.of(image.elf(), image.isa(), Optional.ofNullable(sysroot));
    } catch (ElfFormatException e) {
      throw e;
    } catch (IOException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }

  /** True where calls of functions in shared objects are traced. */
  public boolean libraryCalls() {
    return libraryCalls;
  }

  /** What can be traced by name in an image. */
  SiteCatalog catalog(LoadedImage image) {
    return libraryCalls ? SiteCatalog.withLibraryCalls(image) : SiteCatalog.of(image);
  }

  /** What is traced from the beginning on. */
  public TraceSettings trace() {
    return trace.settings();
  }

  /**
   * The cores that are meant.
   *
   * @param name first part of their names; empty: named after their images
   * @param loaded the images of {@link #images}
   */
  public CoreGroup group(Optional<String> name, List<LoadedImage> loaded) {
    return new CoreGroup(
        name,
        loaded,
        cores,
        Optional.ofNullable(entry),
        Stream.concat(arguments.stream(), rest.stream()).toList(),
        Optional.ofNullable(stdin),
        labels,
        options());
  }

  private CoreOptions options() {
    LinuxOptions linux =
        LinuxOptions.of("program")
            .withEnvironment(environment)
            .withReadable(readable)
            .withWritable(writable)
            .withSysroot(Optional.ofNullable(sysroot));
    return limits.in(
        CoreOptions.of(linux)
            .withClock(clock)
            .withLibraryCalls(libraryCalls)
            .withProbe(probe.probe())
            .withTrace(trace())
            .withRam(ram)
            .withTimers(timers)
            .withTasks(tasks.options())
            .withSchedule(threads.schedule()));
  }

  /** Arguments after {@code --}. */
  public List<String> rest() {
    return rest;
  }

  /** Reads {@code BASE:SIZE}. */
  static final class RamConverter implements ITypeConverter<Ram> {
    @Override
    public Ram convert(String text) {
      try {
        return Ram.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }

  /** Reads {@code PERIOD:HANDLER}. */
  static final class TimerConverter implements ITypeConverter<InterruptTimer> {
    @Override
    public InterruptTimer convert(String text) {
      try {
        return InterruptTimer.parse(text);
      } catch (IllegalArgumentException e) {
        throw new TypeConversionException(e.getMessage());
      }
    }
  }
}
