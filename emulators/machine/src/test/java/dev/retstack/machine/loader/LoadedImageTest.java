package dev.retstack.machine.loader;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.elf.ElfBuilder;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.machine.testing.Images;
import dev.retstack.schema.Image;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

final class LoadedImageTest {
  @TempDir Path folder;

  @ParameterizedTest
  @CsvSource({"x86_64,fentry", "x86_64,mcount", "aarch64,mcount", "riscv64,mcount"})
  void zooImageHasOneCallSitePerInstrumentedFunction(String isa, String convention)
      throws Exception {
    LoadedImage image = LoadedImage.load(Images.of(isa, convention)).requireCallSites();

    assertThat(image.isa().name()).isEqualTo(isa);
    assertThat(image.conventions()).hasSize(1);
    assertThat(image.conventions().getFirst().card().name()).isEqualTo(convention);
    assertThat(image.hostedOnLinux()).isFalse();
    Map<String, Integer> sites = new TreeMap<>();
    for (long site : image.callSites()) {
      sites.merge(image.elf().functionAt(site).orElseThrow().name(), 1, Integer::sum);
    }
    assertThat(sites.values()).allMatch(n -> n == 1);
    assertThat(sites).containsKeys("w200_000", "w200_199", "do_load");
    assertThat(sites).doesNotContainKeys("main", "_start", "zoo_write", "zoo_longjmp");
    assertThat(image.conventions().getFirst().callSites()).isEqualTo(image.callSites());
    assertThat(image.leaving().longjmps()).extracting(Symbol::name).containsExactly("zoo_longjmp");
  }

  @Test
  void schemaTellsTheReaderWhatItNeeds() throws Exception {
    LoadedImage image = LoadedImage.load(Images.of("riscv64", "mcount"));

    Image schema = image.toSchema();

    assertThat(schema.getBuildId()).isEqualTo(image.elf().buildId());
    assertThat(schema.getIsa()).isEqualTo("riscv64");
    assertThat(schema.getConvention()).isEqualTo("mcount");
    assertThat(schema.getWordBytes()).isEqualTo(8);
    assertThat(schema.getFpCheck()).isTrue();
    assertThat(schema.getRetpCheck()).isFalse();
    assertThat(schema.getSymbols()).hasSameSizeAs(image.elf().functions());
    assertThat(schema.getMcountLoc()).isEqualTo(image.callSites());
  }

  /** Their calls go through a register, by the address in full. */
  @ParameterizedTest
  @ValueSource(strings = {"-static", "-no-pie"})
  void callsOfNoKnownFormHaveACureThatHelps(String link) throws Exception {
    GuestCompiler.X86_64.assumeInstalled();
    String[] flags = {"-O2", "-mcmodel=large", "-fno-pie", link, source()};
    List<String> counted = new ArrayList<>(List.of(flags));
    counted.add("-pg");
    Path program =
        GuestCompiler.X86_64.compile(folder.resolve("t"), counted.toArray(String[]::new));
    assertThatThrownBy(() -> LoadedImage.load(program).requireCallSites())
        .hasMessageContaining("though it is linked with the")
        .hasMessageContaining("without -mcmodel=large, or with -fpatchable-function-entry=");
    List<String> cured = new ArrayList<>(List.of(flags));
    cured.add("-fpatchable-function-entry=5");
    Path better = GuestCompiler.X86_64.compile(folder.resolve("u"), cured.toArray(String[]::new));
    assertThat(LoadedImage.load(better).requireCallSites().callSites()).isNotEmpty();
  }

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void staticProgramHasTheSitesOfItsOwnFunctions(GuestCompiler compiler) throws Exception {
    compiler.assumeInstalled();
    Path object = compiler.compile(folder.resolve("t.o"), "-c", "-O2", "-pg", source());
    Path program = compiler.compile(folder.resolve("t"), "-static", object.toString());

    LoadedImage image = LoadedImage.load(program).requireCallSites();

    assertThat(image.hostedOnLinux()).isTrue();
    assertThat(image.isa().name()).isEqualTo(compiler.isa());
    assertThat(functionsOf(image, image.callSites()))
        .containsExactlyInAnyOrder("first", "second", "main");
  }

  @ParameterizedTest
  @EnumSource(names = {"X86_64", "AARCH64"}) // glibc has no static PIE start for riscv64
  void staticPieIsReadToo(GuestCompiler compiler) throws Exception {
    compiler.assumeInstalled();
    Path object = compiler.compile(folder.resolve("t.o"), "-c", "-O2", "-pg", "-fPIE", source());
    Path program = compiler.compile(folder.resolve("t"), "-static-pie", object.toString());

    LoadedImage image = LoadedImage.load(program).requireCallSites();

    assertThat(image.elf().positionIndependent()).isTrue();
    assertThat(functionsOf(image, image.callSites()))
        .containsExactlyInAnyOrder("first", "second", "main");
  }

  @Test
  void bothConventionsInOneProgram() throws Exception {
    GuestCompiler gcc = GuestCompiler.X86_64.assumeInstalled();
    Path other = folder.resolve("other.c");
    Files.writeString(other, "int third(int n) { return n + 3; }\n");
    Path a = gcc.compile(folder.resolve("a.o"), "-c", "-pg", source());
    Path b = gcc.compile(folder.resolve("b.o"), "-c", "-pg", "-mfentry", other.toString());

    LoadedImage image =
        LoadedImage.load(gcc.compile(folder.resolve("t"), "-static", a.toString(), b.toString()));

    assertThat(image.conventions())
        .extracting(c -> c.card().name())
        .containsExactly("mcount", "fentry");
    assertThat(functionsOf(image, image.conventions().get(1).callSites())).containsExactly("third");
    assertThat(image.toSchema().getConvention()).isEqualTo("mcount+fentry");
  }

  @ParameterizedTest
  @EnumSource(GuestCompiler.class)
  void programWithoutCallSitesIsToldHowToCompile(GuestCompiler compiler) throws Exception {
    compiler.assumeInstalled();
    Path program = compiler.compile(folder.resolve("plain"), "-static", source());

    LoadedImage image = LoadedImage.load(program);

    assertThat(image.callSites()).isEmpty();
    assertThatThrownBy(image::requireCallSites)
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining("no call sites in plain (" + compiler.isa() + ")")
        .hasMessageContaining("compile with -pg");
  }

  @Test
  void strippedProgramIsToldSo() throws Exception {
    GuestCompiler gcc = GuestCompiler.X86_64.assumeInstalled();
    Path program = gcc.compile(folder.resolve("bare"), "-static", "-s", "-pg", source());

    LoadedImage image = LoadedImage.load(program);

    assertThatThrownBy(image::requireCallSites).hasMessageContaining("do not strip");
  }

  @Test
  void sitesThatAreSwitchedOffAreCallSites() throws Exception {
    GuestCompiler gcc = GuestCompiler.X86_64.assumeInstalled();
    Path program =
        gcc.compile(
            folder.resolve("nops"),
            "-static",
            "-fno-pie",
            "-no-pie",
            "-pg",
            "-mfentry",
            "-mrecord-mcount",
            "-mnop-mcount",
            source());

    LoadedImage image = LoadedImage.load(program).requireCallSites();

    assertThat(functionsOf(image, image.callSites()))
        .containsExactlyInAnyOrder("first", "second", "main");
    assertThat(image.conventions()).extracting(c -> c.card().name()).containsExactly("fentry-nop");

    String bytes = new String(Files.readAllBytes(program), ISO_8859_1);
    String spoiled = bytes.replace("\17\37D\0\0", "\17\13\17\13\17");
    LoadedImage other = LoadedImage.of(ElfFile.parse(spoiled.getBytes(ISO_8859_1), "other"));
    assertThatThrownBy(other::requireCallSites)
        .hasMessageContaining("neither a call nor a known nop (3 entries of __mcount_loc)");
  }

  @Test
  void unknownMachineNamesTheKnownOnes() throws Exception {
    ElfFile sparc = ElfFile.parse(ElfBuilder.elf64().machine(43).build(), "old.elf");

    assertThatThrownBy(() -> LoadedImage.of(sparc))
        .isInstanceOf(ElfFormatException.class)
        .hasMessage(
            "old.elf: e_machine is 43 (sparc64), allowed: %s; build the program for one of these"
                .formatted(Isas.names()));
  }

  @ParameterizedTest
  @CsvSource(
      textBlock =
          """
          62,  false, true,  0x0,        EI_CLASS is 32-bit (x32,          -m64
          183, false, true,  0x0,        EI_CLASS is 32-bit (ILP32,        -mabi=lp64
          22,  false, false, 0x0,        EI_CLASS is 32-bit (s390,         -m64
          8,   false, false, 0x70001027, e_flags is 0x70001027 (n32,       -mabi=32
          8,   false, true,  0x90001005, (mips32 release 6,                mips32r2
          8,   true,  true,  0xA0000007, (mips64 release 6,                mips64r2
          40,  false, true,  0x0,        (the old arm ABI (OABI),          gnueabi
          40,  false, true,  0x04000000, (arm EABI version 4,              gnueabi
          243, true,  true,  0x8,        (rv64e,                           -mabi=lp64
          21,  true,  false, 0x2,        (ELFv2,                           -mabi=elfv1
          21,  true,  true,  0x1,        (ELFv1,                           -mabi=elfv2
          """)
  void anAbiThatIsNotTracedIsNamedWithItsFieldAndCure(
      int machine, boolean is64, boolean little, String flags, String what, String cure)
      throws Exception {
    ElfBuilder file =
        new ElfBuilder(is64, little ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN)
            .machine(machine)
            .flags(Long.decode(flags).intValue());
    ElfFile elf = ElfFile.parse(file.build(), "fw.elf");
    assertThatThrownBy(() -> LoadedImage.of(elf))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageStartingWith("fw.elf: ")
        .hasMessageContaining(what)
        .hasMessageContaining(cure);
  }

  @Test
  void anotherClassOfAKnownMachineIsToldWithTheMachine() throws Exception {
    ElfFile elf =
        ElfFile.parse(new ElfBuilder(true, ByteOrder.LITTLE_ENDIAN).machine(40).build(), "fw.elf");
    assertThatThrownBy(() -> LoadedImage.of(elf)).hasMessageContaining("e_machine is 40 (arm");
  }

  @Test
  void aWrongIsaIsRefusedWithBothMachines() throws Exception {
    LoadedImage image = LoadedImage.load(Images.of("riscv64", "mcount"));
    assertThat(image.requireIsa(Isas.find("riscv64").orElseThrow())).isSameAs(image);
    assertThatThrownBy(() -> image.requireIsa(Isas.find("x86_64").orElseThrow()))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining("e_machine is 243 (riscv64), allowed: 62 (x86_64)")
        .hasMessageContaining("--isa");
  }

  @Test
  void anEntryIsASymbolOrAnAddressWithCode() throws Exception {
    LoadedImage image = LoadedImage.load(Images.of("riscv64", "mcount"));
    long fib = image.elf().symbol("run_fib").orElseThrow().address();
    assertThat(image.entry("run_fib")).isEqualTo(fib);
    assertThat(image.entry("0x%x".formatted(fib))).isEqualTo(fib);
    assertThat(image.entry(Long.toString(fib))).isEqualTo(fib);
    for (String wrong : List.of("no_such", "0x7", "", "0xzz", "-1", "0xffffffffffffffff")) {
      assertThatThrownBy(() -> image.entry(wrong))
          .isInstanceOf(ElfFormatException.class)
          .hasMessageContaining("the entry '%s'".formatted(wrong))
          .hasMessageContaining("nm zoo-riscv64-mcount.elf");
    }
  }

  private String source() throws Exception {
    Path source = folder.resolve("t.c");
    Files.writeString(
        source,
        """
        #include <stdio.h>
        int __attribute__((noinline)) first(int n) { return n * 3 + 1; }
        int __attribute__((noinline)) second(int n) { return first(n) + first(n + 1); }
        int main(int argc, char **argv) { printf("%d\\n", second(argc)); return 7; }
        """);
    return source.toString();
  }

  private static List<String> functionsOf(LoadedImage image, List<Long> sites) {
    return sites.stream().map(s -> image.elf().functionAt(s).orElseThrow().name()).toList();
  }
}
