package dev.retstack.cli.option;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.Terminal;
import dev.retstack.fleet.control.TraceSettings;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.Ram;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.ElfFormatException;
import dev.retstack.fleet.loader.LoadedImage;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
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
      names = "--max-instructions",
      paramLabel = "N",
      description = "Stop each core after about so many instructions.")
  private Long instructionsMax;

  @Mixin private ProbeOption probe;

  @Mixin private TraceOptions trace;

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
   * Checks an image that was loaded against what the user said of it.
   *
   * @throws ElfFormatException where it is of another ISA
   */
  public void check(LoadedImage image) throws ElfFormatException {
    if (isa != null) {
      image.requireIsa(
          Isas.find(isa)
              .orElseThrow(
                  () ->
                      CommandException.badInput(
                          "no such ISA: %s; --isa takes %s".formatted(isa, Isas.names()))));
    }
  }

  /** What is traced from the beginning on. */
  public TraceSettings trace() {
    return trace.settings();
  }

  /** Cores per image. */
  public int cores() {
    return cores;
  }

  /**
   * How one core runs.
   *
   * @param image what it runs
   * @param program the program's own name, its {@code argv[0]}
   * @param core the core's name, put before its output where {@code several} share it
   */
  public CoreOptions core(
      LoadedImage image, String program, String core, boolean several, Terminal terminal)
      throws ElfFormatException {
    List<String> argv = new ArrayList<>(List.of(program));
    argv.addAll(arguments);
    argv.addAll(rest);
    LinuxOptions linux =
        LinuxOptions.of(program)
            .withArguments(argv)
            .withEnvironment(environment)
            .withReadable(readable)
            .withStreams(
                input(several),
                several ? new LinePrefixStream(terminal.out(), core + ": ") : terminal.out(),
                several ? new LinePrefixStream(terminal.err(), core + ": ") : terminal.err());
    CoreOptions options =
        CoreOptions.of(linux)
            .withClock(clock)
            .withProbe(probe.probe())
            .withTrace(trace())
            .withRam(ram);
    if (entry != null) {
      options = options.withEntry(image.entry(entry));
    }
    return instructionsMax == null ? options : options.withInstructionLimit(instructionsMax);
  }

  private InputStream input(boolean several) {
    if (stdin == null) {
      return several ? InputStream.nullInputStream() : System.in;
    }
    try {
      return Files.newInputStream(stdin);
    } catch (IOException e) {
      throw CommandException.badInput("cannot read " + stdin + " as standard input: " + e, e);
    }
  }
}
