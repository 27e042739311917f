package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;

class LimitTest {
  private static final Manifest.Entry IMAGE =
      new Manifest.Entry("zoo-i386-fentry-O1-nofp.elf", "i386", "fentry", "O1", false, Set.of());

  @Test
  void concernsTheImagesThatItsLineNames() {
    List<Limit> limits =
        Limit.parse(
            List.of("# why", "longjmp tree i386 fentry,patchable O1,O2 omitted of its nature"));

    assertThat(Limit.find(limits, IMAGE, "longjmp", Check.TREE))
        .map(Limit::reason)
        .hasValue("of its nature");
    assertThat(Limit.find(limits, IMAGE, "longjmp", Check.COUNTS)).isEmpty();
    assertThat(Limit.find(limits, IMAGE, "fib", Check.TREE)).isEmpty();
    assertThat(of(limits, "i386", "fentry", "Os", false)).isEmpty();
    assertThat(of(limits, "i386", "fentry", "O1", true)).isEmpty();
    assertThat(of(limits, "i386", "mcount", "O1", false)).isEmpty();
    assertThat(of(limits, "x86_64", "fentry", "O1", false)).isEmpty();
    assertThat(of(limits, "i386", "patchable", "O2", false)).isPresent();
  }

  private static Optional<Limit> of(
      List<Limit> limits, String isa, String convention, String level, boolean framePointers) {
    Manifest.Entry image =
        new Manifest.Entry("zoo.elf", isa, convention, level, framePointers, Set.of());
    return Limit.find(limits, image, "longjmp", Check.TREE);
  }

  @Test
  void theLinesOfTheZooAreWhole() throws Exception {
    List<Limit> limits = Limit.parse(Files.readAllLines(Zoo.GUEST.resolve("programs/limits")));
    assertThat(limits)
        .allSatisfy(
            limit -> {
              assertThat(Zoo.programs()).contains(limit.program());
              assertThat(Zoo.committed().isas()).contains(limit.isa());
              assertThat(limit.reason()).hasSizeGreaterThan(40);
            });
    assertThatThrownBy(() -> Limit.parse(List.of("longjmp tree i386")))
        .hasMessageContaining("longjmp tree i386");
  }

  @Test
  void aCellThatFailsAtALimitIsNeitherPassedNorFailed() {
    Cell limited = new Cell("i", "p", Check.TREE, "line 3: expected a", "of its nature");
    assertThat(limited.limited()).isTrue();
    assertThat(limited.passed()).isFalse();
    assertThat(limited.failed()).isFalse();
    Cell failed = new Cell("i", "p", Check.TREE, "line 3: expected a");
    assertThat(failed.limited()).isFalse();
    assertThat(failed.failed()).isTrue();
  }
}
