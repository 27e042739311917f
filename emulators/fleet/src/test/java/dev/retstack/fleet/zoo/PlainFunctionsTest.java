package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Few functions that read no return address are taken for such that do: a function that is taken
 * for one is traced slower. {@code -Dretstack.zoo=all} compiles each form at each level.
 */
final class PlainFunctionsTest {
  private static final Path IMAGES = Zoo.GUEST.resolve("images");

  /** Functions of a hundred that may be taken for readers. */
  private static final int MOST = 2;

  @TempDir private Path folder;

  @Test
  void fewAreTakenForReaders() throws Exception {
    List<Path> images = files(IMAGES).stream().filter(f -> f.toString().endsWith(".elf")).toList();
    assertThat(images).hasSizeGreaterThan(50);
    for (Path image : images) {
      check(image);
    }
  }

  @Test
  void atNoLevelMore() throws Exception {
    for (Path source : files(Zoo.GUEST.resolve("programs"))) {
      Files.copy(source, folder.resolve(source.getFileName()));
    }
    List<String> forms =
        "all".equals(System.getProperty("retstack.zoo"))
            ? RandomProgramsTest.variants()
            : List.of("x86_64-mcount", "riscv64-mcount", "ppc32-mcount");
    for (String level : List.of("O0", "O1", "Os", "O3")) {
      for (String form : forms) {
        String name = form + "-" + level;
        List<String> arguments = List.of("--sources", folder.toString(), name);
        if (GuestScript.build(Zoo.GUEST, Map.of("ZOO_FLAGS", "-w"), arguments)
            .startsWith("built")) {
          check(folder.resolve("zoo-" + name + ".elf"));
        }
      }
    }
  }

  private static List<Path> files(Path folder) throws IOException {
    try (var all = Files.list(folder)) {
      return all.sorted().toList();
    }
  }

  private static void check(Path file) throws IOException {
    LoadedImage image = LoadedImage.load(file);
    List<String> plain = image.elf().functions().stream().map(f -> f.name()).toList();
    List<String> readers =
        image.conventions().stream().flatMap(c -> readers(image, c).stream()).distinct().toList();
    assertThat(readers.size() * 100)
        .as("%s: %s of %d functions", file.getFileName(), readers, plain.size())
        .isLessThanOrEqualTo(MOST * plain.size());
  }

  private static List<String> readers(LoadedImage image, ActiveConvention convention) {
    return convention.sites().stream()
        .flatMap(
            site ->
                image.elf().functionAt(site.address()).stream()
                    .filter(f -> convention.reads(f, site, image.elf()) != ReturnReads.Kind.NONE)
                    .map(f -> f.name()))
        .toList();
  }
}
