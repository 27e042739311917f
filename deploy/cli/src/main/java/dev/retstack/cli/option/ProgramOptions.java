package dev.retstack.cli.option;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.FileTrouble;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.InterruptTimer;
import dev.retstack.fleet.core.Ram;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.ElfFormatException;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.probe.TaskFunctions;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What runs, on how many cores, and what surrounds it. */
public final class ProgramOptions {
  @Option(
      names = "--image",
      paramLabel = "ELF",
      description = {
        "Program to run: built with -pg or -mfentry, freestanding or static Linux;",
        "or an image that comes along, such as zoo-riscv64-mcount. May be repeated."
      })
  private final List<String> images = new ArrayList<>();

  @Option(
      names = "--isa",
      paramLabel = "ISA",
      description = "Refuse an image of another ISA than this; the image tells its own.")
  private String isa;

  @Option(
      names = "--entry",
      paramLabel = "SYMBOL|ADDRESS",
      description = "Begin there instead of the image's entry point; for bare metal.")
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
      description = "An argument of the program; may be repeated. So are those after --.")
  private final List<String> arguments = new ArrayList<>();

  @Option(
      names = "--env",
      paramLabel = "KEY=VALUE",
      description = "The program's environment, empty otherwise; may be repeated.")
  private final Map<String, String> environment = new LinkedHashMap<>();

  @Option(
      names = "--stdin",
      paramLabel = "FILE",
      description = "The program's standard input: ours for a single core, else none.")
  private Path stdin;

  @Option(
      names = "--readable",
      paramLabel = "PATH",
      description = "File or folder of this machine that the program may read; may be repeated.")
  private final List<Path> readable = new ArrayList<>();

  @Option(
      names = "--clock",
      defaultValue = "virtual",
      paramLabel = "CLOCK",
      description = "virtual (default): instructions executed; host: nanoseconds.")
  private CoreOptions.Clock clock;

  @Option(
      names = "--ram",
      paramLabel = "BASE:SIZE",
      description = "Memory of the board beside the image, such as 0x20000000:64K.",
      converter = RamConverter.class)
  private final List<Ram> ram = new ArrayList<>();

  @Option(
      names = "--timer",
      paramLabel = "PERIOD:HANDLER",
      description = {
        "Interrupts the program every PERIOD instructions: HANDLER(frame, number) returns the frame",
        "to go on with. May be repeated; numbers count from 0. See emulators/guest/README.md."
      },
      converter = TimerConverter.class)
  private final List<InterruptTimer> timers = new ArrayList<>();

  @Option(
      names = "--label",
      paramLabel = "KEY=VALUE",
      description = {
        "A label by which commands select these cores (retstack trace --target label.KEY=VALUE);",
        "may be repeated."
      })
  private final Map<String, String> labels = new LinkedHashMap<>();

  @Mixin private LimitOptions limits;

  @Mixin private ProbeOption probe;

  @Mixin private TraceOptions trace;

  @Mixin private TaskDeclaration tasks;

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
   *     such handler, or not what its tasks are to be told by
   */
  public void check(LoadedImage image) throws ElfFormatException {
    if (isa != null) {
      image.requireIsa(Isas.find(isa).orElseThrow());
    }
    image.requireCallSites();
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
        LinuxOptions.of("program").withEnvironment(environment).withReadable(readable);
    return limits.in(
        CoreOptions.of(linux)
            .withClock(clock)
            .withProbe(probe.probe())
            .withTrace(trace())
            .withRam(ram)
            .withTimers(timers)
            .withTasks(tasks.options()));
  }

  /** Arguments after {@code --}. */
  public List<String> rest() {
    return rest;
  }
}
