package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** The suite must find what is wrong: a suite that always passes proves nothing. */
class ConformanceTest {
  private static final String IMAGE = "zoo-riscv64-mcount.elf";

  private static LoadedImage image() {
    return Zoo.images().stream()
        .filter(image -> image.elf().name().equals(IMAGE))
        .findFirst()
        .orElseThrow();
  }

  /** The image with the call of the counting function in {@code function} switched off. */
  private static LoadedImage without(String function) throws Exception {
    LoadedImage image = image();
    ElfFile elf = image.elf();
    long site =
        image.callSites().stream()
            .filter(at -> elf.functionAt(at).orElseThrow().name().equals(function))
            .findFirst()
            .orElseThrow();
    byte[] nop = Zoo.card(image).nop();
    byte[] file = Files.readAllBytes(elf.file().orElseThrow());
    byte[] around = new byte[32];
    elf.memory(site, around.length).orElseThrow().get(around);
    int at = indexOf(file, around);
    System.arraycopy(nop, 0, file, at, nop.length);
    return LoadedImage.of(ElfFile.parse(file, IMAGE));
  }

  private static int indexOf(byte[] file, byte[] wanted) {
    for (int i = 0; i + wanted.length <= file.length; i++) {
      if (ByteBuffer.wrap(file, i, wanted.length).equals(ByteBuffer.wrap(wanted))) {
        return i;
      }
    }
    throw new AssertionError("the site is not in the file");
  }

  @Test
  void aFunctionThatIsNotSeenFailsTreeAndCountsWithTheReason() throws Exception {
    Conformance conformance = new Conformance(new Zoo.Case(without("quicksort"), "sort"));
    Map<Check, Cell> cells =
        conformance.checks().stream().collect(Collectors.toMap(check -> check, conformance::cell));
    assertThat(cells.get(Check.TREE).fault())
        .contains("of the tree: expected")
        .contains("quicksort");
    assertThat(cells.get(Check.COUNTS).fault())
        .matches("calls of quicksort: expected (\\d+), traced 0, counted \\1");
    assertThat(cells.get(Check.TREE).passed()).isFalse();
    assertThat(cells.get(Check.OUTPUT).passed()).isTrue();
    assertThat(cells.get(Check.SLICES).passed()).isTrue();
    assertThat(cells).doesNotContainKey(Check.REGISTERS);
  }

  @Test
  void verificationTellsEveryCellOnceInTheOrderOfTheImages() throws Exception {
    List<LoadedImage> images = List.of(image(), without("quicksort"));
    List<Verification.Row> rows = new ArrayList<>();
    List<Integer> done = java.util.Collections.synchronizedList(new ArrayList<>());
    Verification.run(images, ProbeKind.AUTO, 2, done::add, rows::add);
    int cells = Verification.cells(images);
    assertThat(done).hasSize(cells).contains(1, cells).doesNotHaveDuplicates();
    assertThat(rows).extracting(Verification.Row::image).isEqualTo(images);
    assertThat(rows).extracting(row -> row.card().name()).containsOnly("mcount");
    assertThat(rows.getFirst().failed()).isEmpty();
    assertThat(rows.getLast().failed())
        .extracting(cell -> cell.program() + " " + cell.check())
        .contains("sort TREE", "sort COUNTS")
        .doesNotContain("fib TREE");
    assertThat(rows.stream().mapToInt(row -> row.cells().size()).sum()).isEqualTo(cells);
  }

  @Test
  void everyCardOfTheTableHasAnImage() {
    List<AbiCard> verified = Zoo.images().stream().map(Zoo::card).toList();
    dev.retstack.machine.isa.Isas.all()
        .forEach(isa -> assertThat(verified).as(isa.name()).containsAll(isa.conventions()));
  }
}
