package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.fleet.isa.AbiCard;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Isas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** An ISA is one file, one row of the table, images, and a golden tree for each program. */
class CompletenessTest {
  private static final Path ROOT = Repository.root();
  private static final Path GUEST = ROOT.resolve("emulators/guest");
  private static final Path ISA_SOURCES =
      ROOT.resolve("emulators/fleet/src/main/java/dev/retstack/fleet/isa");

  @Test
  void everyIsaHasItsFile() {
    for (Isa isa : Isas.all()) {
      String file = isa.name().substring(0, 1).toUpperCase(Locale.ROOT) + isa.name().substring(1);
      assertThat(ISA_SOURCES.resolve(file + ".java")).exists();
    }
  }

  @Test
  void everyIsaFileIsInTheTable() throws IOException {
    Set<String> declared = new HashSet<>();
    try (Stream<Path> files = Files.list(ISA_SOURCES)) {
      for (Path file : files.toList()) {
        if (Files.readString(file).contains("static final Isa ISA =")) {
          String name = file.getFileName().toString().replace(".java", "");
          declared.add(name.toLowerCase(Locale.ROOT));
        }
      }
    }
    assertThat(declared)
        .containsExactlyInAnyOrderElementsOf(Isas.all().stream().map(Isa::name).toList());
  }

  @Test
  void everyConventionHasAnImageInTheManifest() throws IOException {
    Set<String> built = new HashSet<>();
    for (JsonNode image : manifest().get("images")) {
      built.add(image.get("isa").asText() + " " + image.get("convention").asText());
      assertThat(GUEST.resolve("images").resolve(image.get("file").asText())).exists();
    }
    for (Isa isa : Isas.all()) {
      for (AbiCard card : isa.conventions()) {
        assertThat(built).contains(isa.name() + " " + card.name());
      }
    }
  }

  @Test
  void everyProgramHasOneTreeAndOneCount() throws IOException {
    List<String> programs = manifest().get("programs").findValuesAsText("name");
    assertThat(programs).hasSizeGreaterThan(10);
    for (String program : programs) {
      for (String kind : List.of(".c", ".tree", ".counts")) {
        assertThat(GUEST.resolve("programs").resolve(program + kind)).isNotEmptyFile();
      }
    }
  }

  private static JsonNode manifest() throws IOException {
    return new ObjectMapper().readTree(GUEST.resolve("images/manifest.json").toFile());
  }
}
