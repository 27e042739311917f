package dev.retstack.cli.fleet;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Ranges;
import dev.retstack.cli.command.Terminal;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * Makes the cores of a fleet. A core is named after its image and numbered: {@code
 * zoo-riscv64-mcount-0}.
 */
public final class CoreSpecs {
  private CoreSpecs() {}

  /** The cores of a command line. */
  public static List<CoreSpec> of(ProgramOptions options, Terminal terminal) {
    options.check();
    List<LoadedImage> images = new ArrayList<>();
    for (String named : options.images()) {
      LoadedImage image = GuestImages.load(GuestImages.resolve(named));
      try {
        options.check(image);
      } catch (ElfFormatException e) {
        throw CommandException.badInput(e.getMessage(), e);
      }
      images.add(image);
    }
    TraceOptions.check(options.trace(), images.stream().distinct().map(options::catalog).toList());
    return of(List.of(options.group(Optional.empty(), images)), terminal);
  }

  /**
   * The cores of groups, whose output goes to the terminal, line by line where several share it.
   */
  public static List<CoreSpec> of(List<CoreGroup> groups, Terminal terminal) {
    long cores = groups.stream().mapToLong(CoreGroup::size).sum();
    requireFew(cores);
    boolean several = cores > 1;
    Map<String, Integer> numbers = new HashMap<>();
    List<CoreSpec> specs = new ArrayList<>();
    for (CoreGroup group : groups) {
      for (LoadedImage image : group.images()) {
        for (int i = 0; i < group.cores(); i++) {
          String core = name(group.name().orElse(GuestImages.name(image)), numbers);
          CoreOptions options = surrounded(group, image, core, several, terminal);
          specs.add(new CoreSpec(core, image, options, group.labels()));
        }
      }
    }
    return specs;
  }

  private static void requireFew(long cores) {
    if (cores > Ranges.CORES_MAX) {
      throw CommandException.usage(
          "%,d cores in all: a fleet has %,d at most; start several with --session"
              .formatted(cores, Ranges.CORES_MAX));
    }
  }

  private static CoreOptions surrounded(
      CoreGroup group, LoadedImage image, String core, boolean several, Terminal terminal) {
    List<String> argv = new ArrayList<>(List.of(image.elf().name()));
    argv.addAll(group.arguments());
    String prefix = Visible.line(core) + ": "; // what follows is the program's own
    LinuxOptions linux =
        group
            .options()
            .linux()
            .withArguments(argv)
            .withWritable(writable(group, core, several))
            .withStreams(
                input(group, several),
                several ? new LinePrefixStream(terminal.rawOut(), prefix) : terminal.rawOut(),
                several ? new LinePrefixStream(terminal.rawErr(), prefix) : terminal.rawErr());
    CoreOptions options = group.options().withLinux(linux);
    if (group.entry().isEmpty()) {
      return options;
    }
    try {
      return options.withEntry(OptionalLong.of(image.entry(group.entry().get())));
    } catch (ElfFormatException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }

  /** No two cores share a folder that they change: neither would be the same in each run. */
  private static List<Path> writable(CoreGroup group, String core, boolean several) {
    List<Path> folders = new ArrayList<>();
    for (Path given : group.options().linux().writable()) {
      Path folder = several ? given.resolve(core) : given;
      try {
        folders.add(Files.createDirectories(folder));
      } catch (IOException e) {
        throw CommandException.badInput(
            "the folder of core %s, below --writable: %s"
                .formatted(core, FileTrouble.whyNotWritten(folder, e)),
            e);
      }
    }
    return folders;
  }

  private static InputStream input(CoreGroup group, boolean several) {
    if (group.stdin().isEmpty()) {
      return several ? InputStream.nullInputStream() : System.in;
    }
    try {
      return Files.newInputStream(group.stdin().get());
    } catch (IOException e) {
      throw CommandException.badInput(
          "as standard input: " + FileTrouble.whyNotRead(group.stdin().get(), e), e);
    }
  }

  /** This many cores of each image; each core runs all its programs and prints nothing. */
  public static List<CoreSpec> zoo(List<Path> images, int coresPerImage, ProbeKind probe) {
    requireFew((long) images.size() * coresPerImage);
    Map<String, Integer> numbers = new HashMap<>();
    List<CoreSpec> specs = new ArrayList<>();
    for (Path file : images) {
      LoadedImage image = GuestImages.load(file);
      for (int i = 0; i < coresPerImage; i++) {
        specs.add(
            new CoreSpec(
                name(GuestImages.name(file), numbers),
                image,
                CoreOptions.of(LinuxOptions.of(GuestImages.name(file))).withProbe(probe)));
      }
    }
    return specs;
  }

  private static String name(String first, Map<String, Integer> numbers) {
    return first + "-" + (numbers.merge(first, 1, Integer::sum) - 1);
  }
}
