package dev.retstack.cli.isa;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.Ran;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.fleet.loader.ElfFile;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.zoo.Cell;
import dev.retstack.fleet.zoo.Check;
import dev.retstack.fleet.zoo.Verification;
import dev.retstack.fleet.zoo.Zoo;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

class IsaVerbTest {
  private static final ObjectMapper JSON = new ObjectMapper();

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
    Ran ran = Ran.retstack("isa", "--verify", "riscv32", "--format", "json");
    assertThat(ran.code()).as(ran.out()).isEqualTo(ExitCode.OK);
    JsonNode cells = JSON.readTree(ran.out());
    assertThat(cells.size()).isGreaterThan(300);
    for (JsonNode cell : cells) {
      assertThat(cell.get("isa").asText()).isEqualTo("riscv32");
      assertThat(cell.get("passed").asBoolean()).isTrue();
      assertThat(cell.has("reason")).isFalse();
    }
    assertThat(ran.err()).contains(", 0 failed, in ");
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
                new Cell(elf.name(), "fib", Check.CLOCK, "")),
            1_500_000_000L);
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8)) {
      ConformanceTable.write(List.of(row), dev.retstack.cli.option.Format.TEXT, out);
    }
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .contains("0/1 FAIL")
        .containsPattern("1/1 +- +- +1\\.5")
        .contains("FAIL " + elf.name() + " fib tree: line 1: expected a, received b");
  }
}
