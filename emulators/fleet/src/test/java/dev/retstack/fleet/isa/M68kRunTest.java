package dev.retstack.fleet.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HexFormat;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs of m68k: their results and their traces. */
final class M68kRunTest {
  private static final Isa M68K = Isas.find("m68k").orElseThrow();

  @Test
  void aProgramMayReadFlagsBeforeItSetThem() {
    byte[] code = HexFormat.of().parseHex("650270074e75"); // bcs.s 1f; moveq #7,%d0; 1: rts
    LoadedImage image = Zoo.image(M68K, M68K.convention("patchable").orElseThrow());
    Run run =
        Run.of(
            image,
            Run.options(),
            1_000,
            core -> core.engine().mem_write(image.elf().entry(), code));
    assertThat(run.ending().detail()).isEqualTo("entry point returned 7");
  }

  /** -pg alone leaves frames away: 4(a6) is then the return address of another function. */
  @ParameterizedTest
  @ValueSource(strings = {"-pg", "-pg -fno-omit-frame-pointer"})
  void aFunctionWithoutAFrameIsEnteredAtItsFirstInstruction(String flags, @TempDir Path folder)
      throws IOException, InterruptedException {
    String compiler = "m68k-linux-gnu-gcc";
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path source = folder.resolve("frames.c");
    try (InputStream in =
        M68kRunTest.class.getResourceAsStream("/dev/retstack/fleet/contexts/frames.c")) {
      Files.copy(in, source);
    }
    String[] words = (flags + " -O2 -c " + source).split(" ");
    Path object = GuestCompiler.compileWith(compiler, folder.resolve("frames.o"), words);
    LoadedImage image =
        LoadedImage.load(
            GuestCompiler.compileWith(
                compiler, folder.resolve("frames"), "-static", object.toString()));
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {});
    for (ProbeKind probe : ProbeKind.values()) {
      Run run = Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {});
      assertThat(run.ending()).isEqualTo(untraced.ending());
      assertThat(run.output()).isEqualTo(untraced.output());
      assertThat(run.records().size()).isEqualTo(2 * 440);
      assertThat(run.unhijackable()).isZero();
      assertThat(run.counts()).containsEntry("sized", 50L);
    }
  }
}
