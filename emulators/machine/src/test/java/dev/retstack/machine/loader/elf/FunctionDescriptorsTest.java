package dev.retstack.machine.loader.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.machine.testing.GuestCompiler;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

final class FunctionDescriptorsTest {
  private static final int GLOBAL_FUNCTION = 0x12;
  private static final int GLOBAL_OBJECT = 0x11;
  private static final long CODE = ElfBuilder.CODE_ADDRESS;
  private static final long OPD = CODE + ElfBuilder.OPD_OFFSET;
  private static final long TOC = 0x1_8000;

  @Test
  void namesAndEntryAreThoseOfTheCode() throws Exception {
    ElfFile elf =
        ElfFile.parse(
            ppc64()
                .opd(CODE, TOC, 0, CODE + 0x20, TOC + 8)
                .entry(OPD + 24)
                .symbol("f", OPD, 0x10, GLOBAL_FUNCTION)
                .symbol(".f", CODE, 0x10, GLOBAL_FUNCTION)
                .symbol("_start", OPD + 24, 0x20, GLOBAL_FUNCTION)
                .symbol("pointer", OPD, 8, GLOBAL_OBJECT)
                .build(),
            "v1.elf");

    assertThat(elf.entry()).isEqualTo(CODE + 0x20);
    assertThat(elf.entryToc()).hasValue(TOC + 8);
    assertThat(elf.functions())
        .extracting(s -> "%s 0x%x+%d".formatted(s.name(), s.address(), s.size()))
        .containsExactly("f 0x10400+16", "_start 0x10420+32");
    assertThat(elf.symbol("pointer")).get().extracting(Symbol::address).isEqualTo(OPD);
  }

  @Test
  void withoutDescriptorsNothingMoves() throws Exception {
    ElfFile elf = ElfFile.parse(ppc64().symbol("f", OPD, 0x10, GLOBAL_FUNCTION).build(), "v2.elf");

    assertThat(elf.entry()).isEqualTo(CODE);
    assertThat(elf.entryToc()).isEmpty();
    assertThat(elf.functionAt(OPD + 4)).get().extracting(Symbol::name).isEqualTo("f");
  }

  @Test
  void aPositionIndependentProgramsDescriptorsMoveWithIt() throws Exception {
    ElfFile elf =
        ElfFile.parse(
            ppc64()
                .type(Elf.ET_DYN)
                .opd(CODE + 0x40, TOC)
                .entry(OPD)
                .symbol("f", OPD, 0x10, GLOBAL_FUNCTION)
                .build(),
            "pie.elf");

    assertThat(elf.entry()).isEqualTo(CODE + 0x40 + elf.bias());
    assertThat(elf.entryToc()).hasValue(TOC + elf.bias());
    assertThat(elf.functions().getFirst().address()).isEqualTo(CODE + 0x40 + elf.bias());
  }

  @Test
  void hostileDescriptorsAreRefused() {
    String file = "lie.elf: the function descriptor of f is ";
    assertThatThrownBy(() -> parse(ppc64().opd(0x99990, TOC).symbol("f", OPD, 4, 0x12)))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageStartingWith(
            file + "0x99990, allowed: an aligned address in an executable segment; ");
    refused(ppc64().opd(CODE + 2, TOC).symbol("f", OPD, 4, 0x12), file + "0x10402,");
    refused(ppc64().opd(-8, TOC).symbol("f", OPD, 4, 0x12), file + "0xfffffffffffffff8,");
    refused(ppc64().opd(CODE, TOC).symbol("f", OPD + 4, 4, 0x12), file + "at 0x10484,");
    refused(
        ppc64().opd(CODE, TOC, 0).symbol("f", OPD + 16, 4, 0x12),
        "allowed: two aligned words of .opd, 0x10480 with 24 bytes");
    refused(ppc64().opd(1, TOC).entry(OPD), "the function descriptor that e_entry names is 0x1,");
  }

  @Test
  void aProgramWithTheCLibraryIsRead(@TempDir Path folder) throws Exception {
    String gcc = "powerpc64-linux-gnu-gcc";
    Assumptions.assumeTrue(GuestCompiler.installed(gcc), "skipped: no " + gcc);
    Path library = Path.of("/usr/powerpc64-linux-gnu/lib/libc.a");
    Assumptions.assumeTrue(Files.exists(library), "skipped: no " + library);
    Path source = folder.resolve("m.c");
    Files.writeString(source, "int main(void) { return 0; }\n");

    ElfFile elf =
        ElfFile.parse(
            GuestCompiler.compileWith(gcc, folder.resolve("m"), "-static", source.toString()));

    Symbol main = elf.symbol("main").orElseThrow();
    assertThat(elf.functionAt(main.address())).contains(main);
    assertThat(elf.symbol("_start")).get().extracting(Symbol::address).isEqualTo(elf.entry());
    assertThat(elf.functions()).hasSizeGreaterThan(500);
    assertThat(elf.warnings()).isEmpty();
    long toc = elf.entryToc().orElseThrow();
    Section got = elf.section(".got").orElseThrow();
    assertThat(toc).as("TOC: 0x8000 behind the start of .got").isEqualTo(got.address() + 0x8000);
  }

  private static ElfBuilder ppc64() {
    return new ElfBuilder(true, ByteOrder.BIG_ENDIAN).machine(21);
  }

  private static ElfFile parse(ElfBuilder file) throws ElfFormatException {
    return ElfFile.parse(file.build(), "lie.elf");
  }

  private static void refused(ElfBuilder lie, String why) {
    assertThatThrownBy(() -> parse(lie))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining(why);
  }
}
