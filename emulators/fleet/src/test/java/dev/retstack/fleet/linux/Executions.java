package dev.retstack.fleet.linux;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Segment;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * How often the first instruction of each traced function of a program is executed under qemu-user:
 * a plugin counts, {@code foreign/counts.c}.
 */
final class Executions {
  private static final long SECONDS_MAX = 300;

  private final LoadedImage image;
  private final Path program;
  private final Path plugin;

  /** Functions with a call site, by their first instruction in the file. */
  private final Map<Long, Symbol> functions = new TreeMap<>();

  /**
   * What became of a run.
   *
   * @param calls by function, see {@link #name}
   */
  record Outcome(int exitCode, String stdout, String stderr, Map<String, Long> calls) {}

  /**
   * Compiles the plugin.
   *
   * @param folder of files that this makes
   */
  Executions(LoadedImage image, Path folder) throws IOException, InterruptedException {
    this.image = image;
    this.program = image.elf().file().orElseThrow();
    Path source = folder.resolve("counts.c");
    try (InputStream text =
        Executions.class.getResourceAsStream("/dev/retstack/fleet/foreign/counts.c")) {
      Files.copy(text, source, StandardCopyOption.REPLACE_EXISTING);
    }
    this.plugin =
        GuestCompiler.compileWith(
            "gcc", folder.resolve("counts.so"), "-O2", "-shared", "-fPIC", source.toString());
    for (long site : image.callSites()) {
      Symbol function = image.elf().functionAt(site).orElseThrow();
      functions.put(function.entry() - image.elf().bias(), function);
    }
  }

  /** Several functions of a program may have the same name. */
  static String name(LoadedImage image, Symbol function) {
    return "%s %x".formatted(function.name(), function.address() - image.elf().bias());
  }

  /**
   * Runs the program. The signals of the C library's profiler, which -pg brings, would come at any
   * time: they are blocked. A shell that starts this in the background ignores SIGINT, and programs
   * inherit that: busybox's sh then sets one handler less. So no signal is ignored.
   *
   * @param qemu the emulator with its options
   * @param arguments the name of the program first
   * @param in working directory
   */
  Outcome run(List<String> qemu, List<String> arguments, Map<String, String> environment, Path in)
      throws IOException, InterruptedException {
    Path folder = plugin.getParent();
    Path counts = folder.resolve("counts");
    List<String> command =
        new ArrayList<>(List.of("env", "--default-signal", "--block-signal=PROF"));
    command.addAll(qemu);
    String options = "%s,places=%s,out=%s".formatted(plugin, places(folder), counts);
    Collections.addAll(command, "-plugin", options, "-0", arguments.getFirst());
    command.add(program.toString());
    command.addAll(arguments.subList(1, arguments.size()));
    Path out = folder.resolve("out");
    Path err = folder.resolve("err");
    ProcessBuilder builder =
        new ProcessBuilder(command)
            .directory(in.toFile())
            .redirectInput(Path.of("/dev/null").toFile())
            .redirectOutput(out.toFile())
            .redirectError(err.toFile());
    builder.environment().clear();
    builder.environment().putAll(environment);
    Files.deleteIfExists(counts);
    Process process = builder.start();
    try {
      if (!process.waitFor(SECONDS_MAX, TimeUnit.SECONDS)) {
        throw new AssertionError(String.join(" ", command) + " does not end");
      }
    } finally {
      process.destroyForcibly();
    }
    return new Outcome(
        process.exitValue(),
        Files.readString(out, StandardCharsets.ISO_8859_1),
        Files.readString(err, StandardCharsets.ISO_8859_1),
        calls(counts));
  }

  private Path places(Path folder) throws IOException {
    ElfFile elf = image.elf();
    long code =
        elf.segments().stream()
            .filter(Segment::executable)
            .mapToLong(Segment::address)
            .min()
            .orElseThrow();
    List<String> lines = new ArrayList<>(List.of(Long.toHexString(code - elf.bias())));
    functions.keySet().forEach(address -> lines.add(Long.toHexString(address)));
    return Files.write(folder.resolve("places"), lines);
  }

  private Map<String, Long> calls(Path counts) throws IOException {
    Map<String, Long> calls = new TreeMap<>();
    for (String line : Files.readAllLines(counts)) {
      String[] words = line.split(" ", -1);
      Symbol function = functions.get(Long.parseUnsignedLong(words[0], 16));
      calls.merge(name(image, function), Long.parseLong(words[1]), Long::sum);
    }
    return calls;
  }
}
