package dev.retstack.fleet.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.isa.call.AbiCard;
import dev.retstack.fleet.isa.call.CallForm;
import dev.retstack.fleet.isa.call.Listing;
import dev.retstack.fleet.loader.GuestCompiler;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
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

/** m68k as an assembler writes it. */
final class M68kTest {
  private static final long AT = 0x10_1988;
  private static final AbiCard PATCHABLE = M68k.ISA.convention("patchable").orElseThrow();

  @Test
  void aLinkBehindTheNopsIsAFrame() {
    String nops = "4e 71 4e 71 4e 71 ";

    assertThat(keepsFrame(nops + "4e 56 00 00")).as("link.w %%a6,#0").isTrue();
    assertThat(keepsFrame(nops + "48 0e ff ff 00 00")).as("link.l %%a6,#-65536").isTrue();
    assertThat(keepsFrame(nops + "48 e7 20 30")).as("movem.l").isFalse();
    assertThat(keepsFrame(nops + "4e 55 00 00")).as("link.w %%a5,#0").isFalse();
  }

  private static boolean keepsFrame(String code) {
    return Listing.at(AT, code).facts(PATCHABLE, AT).orElseThrow().keepsFrame();
  }

  @Test
  void callsGoWhereObjdumpSays() {
    AbiCard mcount = M68k.ISA.convention("mcount").orElseThrow();
    CallForm near = mcount.callForms().getFirst();
    CallForm absolute = mcount.callForms().getLast();

    // 1019fc: 61ff ffff e6a2  bsr.l 1000a0
    long call = Listing.at(AT, "61 ff ff ff e6 a2").at(AT);
    assertThat(near.matches(call)).isTrue();
    assertThat(near.target().of(0x10_19fc, call)).isEqualTo(0x10_00a0);
    // 4eb9 0010 00a0  jsr 1000a0
    long jump = Listing.at(AT, "4e b9 00 10 00 a0").at(AT);
    assertThat(absolute.matches(jump)).isTrue();
    assertThat(absolute.target().of(AT, jump)).isEqualTo(0x10_00a0);
    assertThat(near.matches(jump)).isFalse();
  }

  @Test
  void aProgramMayReadFlagsBeforeItSetThem() {
    byte[] code = HexFormat.of().parseHex("650270074e75"); // bcs.s 1f; moveq #7,%d0; 1: rts
    LoadedImage image = Zoo.image(M68k.ISA, PATCHABLE);
    Run run =
        Run.of(
            image,
            Run.options(),
            1_000,
            core -> core.engine().mem_write(image.elf().entry(), code));
    assertThat(run.ending().detail()).isEqualTo("entry point returned 7");
  }

  @Test
  void theLandingPageIsWhatAnAssemblerWrites() {
    // jmp ([0x7ffdd000])
    assertThat(Listing.hex(M68k.ISA.landing().slot().code(AT, 0, 0x7ffd_d000L)))
        .isEqualTo("4e f0 01 f1 7f fd d0 00");
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
        M68kTest.class.getResourceAsStream("/dev/retstack/fleet/contexts/frames.c")) {
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
