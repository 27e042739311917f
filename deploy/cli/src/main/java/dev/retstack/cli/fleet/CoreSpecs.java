package dev.retstack.cli.fleet;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.Terminal;
import dev.retstack.cli.option.GuestImages;
import dev.retstack.cli.option.ProgramOptions;
import dev.retstack.cli.option.TraceOptions;
import dev.retstack.fleet.CoreSpec;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.linux.LinuxOptions;
import dev.retstack.fleet.loader.ElfFormatException;
import dev.retstack.fleet.loader.LoadedImage;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Which cores run: a core is named after its image and numbered, {@code zoo-riscv64-mcount-0}. */
public final class CoreSpecs {
  private CoreSpecs() {}

  /** The cores a user asked for, with the surroundings asked for. */
  public static List<CoreSpec> of(ProgramOptions options, Terminal terminal) {
    boolean several = options.images().size() * options.cores() > 1;
    Map<String, Integer> numbers = new HashMap<>();
    List<CoreSpec> specs = new ArrayList<>();
    for (String named : options.images()) {
      Path file = GuestImages.resolve(named);
      LoadedImage image = GuestImages.load(file);
      String program = file.getFileName().toString();
      try {
        options.check(image);
        image.requireCallSites();
        for (int i = 0; i < options.cores(); i++) {
          String core = name(file, numbers);
          specs.add(
              new CoreSpec(core, image, options.core(image, program, core, several, terminal)));
        }
      } catch (ElfFormatException e) {
        throw CommandException.badInput(e.getMessage(), e);
      }
    }
    TraceOptions.check(options.trace(), specs.stream().map(CoreSpec::image).toList());
    return specs;
  }

  /** So many cores of each image, each running all its programs, without a word from them. */
  public static List<CoreSpec> zoo(List<Path> images, int coresPerImage, ProbeKind probe) {
    Map<String, Integer> numbers = new HashMap<>();
    List<CoreSpec> specs = new ArrayList<>();
    for (Path file : images) {
      LoadedImage image = GuestImages.load(file);
      for (int i = 0; i < coresPerImage; i++) {
        specs.add(
            new CoreSpec(
                name(file, numbers),
                image,
                CoreOptions.of(LinuxOptions.of(GuestImages.name(file))).withProbe(probe)));
      }
    }
    return specs;
  }

  private static String name(Path file, Map<String, Integer> numbers) {
    String image = GuestImages.name(file);
    return image + "-" + (numbers.merge(image, 1, Integer::sum) - 1);
  }
}
