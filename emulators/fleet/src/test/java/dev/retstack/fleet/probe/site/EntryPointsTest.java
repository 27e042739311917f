package dev.retstack.fleet.probe.site;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.CallSite;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.machine.testing.Images;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class EntryPointsTest {
  @TempDir Path folder;

  @Test
  void aBlockThatRunsOnIntoASiteIsTold() throws Exception {
    LoadedImage image = LoadedImage.load(Images.of("s390x", "mcount-nop"));
    EntryPoints points = EntryPoints.of(image);
    long site = image.elf().symbol("tail_ping").orElseThrow().address();

    assertThat(points.siteInside(site - 20, 40)).isEqualTo(site);
    assertThat(points.siteInside(site - 20, 20)).isZero();
    assertThat(points.siteInside(site, 40)).as("its own").isZero();
    assertThat(points.ofBlock(site, 40).selfPc()).isEqualTo(site);
    assertThat(points.ofBlock(site - 20, 40)).isNull();
  }

  @Test
  void aLocalEntryBehindTheNopsIsAnEntry() throws Exception {
    LoadedImage image = compile("-fpatchable-function-entry=2");
    EntryPoints points = EntryPoints.of(image);
    CallSite site = siteOf(image, "second");
    Symbol second = image.elf().symbol("second").orElseThrow();

    // gcc 12: nops, set-up of the TOC, local entry; gcc 13: set-up, local entry, nops
    assertThat(points.ofBlock(second.address(), 32).selfPc()).isEqualTo(site.address());
    assertThat(points.ofBlock(second.entry(), 16).selfPc()).isEqualTo(site.address());
    assertThat(points.siteInside(second.address(), 32)).isZero();
  }

  @Test
  void aCountingFunctionIsEnteredAtItsLocalEntry() throws Exception {
    LoadedImage image = compile("-pg");
    ActiveConvention convention = image.conventions().getFirst();
    Symbol counting = image.elf().symbol("_mcount").orElseThrow();

    assertThat(convention.card().name()).isEqualTo("mcount");
    assertThat(convention.sites())
        .extracting(site -> image.elf().functionAt(site.address()).orElseThrow().name())
        .containsExactlyInAnyOrder("first", "second", "main");
    assertThat(counting.entry()).isEqualTo(counting.address() + 8);
    assertThat(EntryPoints.of(image).countingFunctions().keySet())
        .containsExactly(counting.entry());
  }

  private static CallSite siteOf(LoadedImage image, String function) {
    return image.conventions().getFirst().sites().stream()
        .filter(s -> image.elf().functionAt(s.address()).orElseThrow().name().equals(function))
        .findFirst()
        .orElseThrow();
  }

  private LoadedImage compile(String flag) throws Exception {
    String gcc = "powerpc64le-linux-gnu-gcc";
    Assumptions.assumeTrue(GuestCompiler.installed(gcc), "skipped: no " + gcc);
    Path source = folder.resolve("t.c");
    Files.writeString(
        source,
        """
        int calls;
        int __attribute__((noinline)) first(int n) { return calls += n; }
        int __attribute__((noinline)) second(int n) { return first(n) + first(n + 1); }
        int main(void) { return second(1); }
        """);
    Path object = folder.resolve("t.o");
    GuestCompiler.compileWith(gcc, object, "-c", "-O2", flag, source.toString());
    return LoadedImage.load(
        GuestCompiler.compileWith(gcc, folder.resolve("t"), "-static", object.toString()));
  }
}
