package dev.retstack.cli.isa;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.table.Format;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.fleet.zoo.Cell;
import dev.retstack.fleet.zoo.Check;
import dev.retstack.fleet.zoo.Verification;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class IsaVerbTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  @Test
  void systemCallsAreListedByName() {
    Ran text = Ran.well("isa", "--system-calls", "riscv64", "--format", "csv");
    assertThat(text.out()).startsWith("name,number\r\n").contains("openat,56\r\n");
    assertThat(Ran.retstack("isa", "--system-calls", "riscv64", "--format", "json").out())
        .contains("\"openat\"");
    assertThat(Ran.retstack("isa", "--system-calls", "riscv").code()).isEqualTo(ExitCode.USAGE);
  }

  @Test
  void theTableHasARowForEveryCard() throws Exception {
    JsonNode rows = JSON.readTree(Ran.retstack("isa", "--format", "json").out());
    int cards = Isas.all().stream().mapToInt(isa -> isa.conventions().size()).sum();
    assertThat(rows).hasSize(cards);
    for (JsonNode row : rows) {
      String what = row.toString();
      assertThat(row.get("symbols")).as(what).isNotEmpty();
      assertThat(row.get("frompc")).as(what).isNotEmpty();
      assertThat(row.get("callSite")).as(what).isNotEmpty();
      assertThat(row.get("nop")).as(what).isNotEmpty();
      assertThat(row.get("verified")).as(what).isNotEmpty();
    }
    assertThat(Ran.retstack("isa", "--format", "csv").out().lines().count()).isEqualTo(cards + 1L);
  }

  @Test
  void aRowSaysWhereTheReturnAddressIsAndWhatACallLooksLike() {
    String text = Ran.retstack("isa").out();
    assertThat(text)
        .containsPattern(
            "x86_64 +64 +little +fentry .*\\[rsp\\+8\\+k] .*e8 \\.\\. \\.\\. \\.\\. \\.\\.")
        .containsPattern("riscv64 .*mcount-nofp .*\\[sp\\+k]")
        .containsPattern("aarch64 .*patchable .* lr ")
        .contains("not traced: sparc64")
        .contains("x32");
  }

  @Test
  void verifyRunsTheSuiteOfOneIsa() throws Exception {
    Ran ran = Ran.retstack("isa", "--verify", "sparc", "--format", "json");
    assertThat(ran.code()).as(ran.out()).isEqualTo(ExitCode.OK);
    JsonNode cells = JSON.readTree(ran.out());
    assertThat(cells.size())
        .isPositive()
        .isEqualTo(Verification.cells(Zoo.images(Zoo.committed(), "sparc")));
    for (JsonNode cell : cells) {
      assertThat(cell.get("isa").asText()).isEqualTo("sparc");
      assertThat(cell.get("passed").asBoolean()).isTrue();
      assertThat(cell.has("reason")).isFalse();
    }
    assertThat(ran.err()).contains(", 0 failed, in ");
  }

  @Test
  void verifyRunsTheSuiteOverTheImagesOfAFolder(@TempDir Path folder) throws Exception {
    String image = "zoo-sparc-mcount.elf";
    Files.copy(Zoo.GUEST.resolve("images").resolve(image), folder.resolve(image));
    Files.writeString(
        folder.resolve("manifest.json"),
        """
        {"images": [{"file": "%s", "isa": "sparc", "convention": "mcount", "level": "O2",
          "without": ["aggregates", "arguments", "deep", "returns", "tail_pointer", "variadic", "wide"]}]}
        """
            .formatted(image));
    Ran ran = Ran.retstack("isa", "--verify", "--images", folder.toString(), "--format", "csv");
    assertThat(ran.code()).as(ran.out()).isEqualTo(ExitCode.OK);
    assertThat(ran.out().lines().skip(1)).isNotEmpty().allMatch(l -> l.contains("," + image + ","));
    assertThat(ran.err()).contains("cells on 1 image, 0 failed, in ");

    Ran other = Ran.retstack("isa", "--verify", "m68k", "--images", folder.toString());
    assertThat(other.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(other.err())
        .contains("no image of m68k in " + folder + "; it has images of [sparc]");
  }

  @Test
  void imagesThatAreNotThereAreToldWithTheCure(@TempDir Path folder) {
    Ran none = Ran.retstack("isa", "--verify", "--images", folder.toString());
    assertThat(none.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(none.err()).contains("no manifest.json in " + folder).contains("--levels DIR");
    Ran gone = Ran.retstack("isa", "--verify", "--images", folder.resolve("x").toString());
    assertThat(gone.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(gone.err()).contains("no such directory: " + folder.resolve("x"));
    Ran alone = Ran.retstack("isa", "--images", folder.toString());
    assertThat(alone.code()).isEqualTo(ExitCode.USAGE);
    assertThat(alone.err()).contains("add --verify");
  }

  @Test
  void anUnknownIsaIsAUsageErrorThatNamesTheKnownOnes() {
    Ran ran = Ran.retstack("isa", "--verify", "z80");
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("z80").contains("riscv64");
  }

  @Test
  void aFailedCellIsShownWithItsReason() throws Exception {
    LoadedImage image = Zoo.images().getFirst();
    ElfFile elf = image.elf();
    Verification.Row row =
        new Verification.Row(
            image,
            Zoo.card(image),
            List.of("fib"),
            List.of(
                new Cell(elf.name(), "fib", Check.TREE, "line 1: expected a, received b"),
                new Cell(elf.name(), "fib", Check.CLOCK, ""),
                new Cell(elf.name(), "sort", Check.TREE, "line 2: ...")),
            1_500_000_000L);
    assertThat(ConformanceTable.document(List.of(row)).as(Format.TEXT))
        .contains("0/2 FAIL")
        .containsPattern("1/1 +- +- +1\\.5")
        .contains("FAIL " + elf.name() + " fib tree: line 1: expected a, received b")
        .contains("FAIL " + elf.name() + " sort tree: line 2: ...");
  }
}
