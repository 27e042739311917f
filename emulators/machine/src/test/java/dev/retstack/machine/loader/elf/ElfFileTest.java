package dev.retstack.machine.loader.elf;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.machine.testing.Images;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

final class ElfFileTest {
  private static final int GLOBAL_FUNCTION = 0x12;
  private static final int WEAK_FUNCTION = 0x22;
  private static final int LOCAL_FUNCTION = 0x02;
  private static final int GLOBAL_LABEL = 0x10;
  private static final long CODE = ElfBuilder.CODE_ADDRESS;

  static List<Path> images() {
    return Images.all();
  }

  @ParameterizedTest
  @MethodSource("images")
  void zooImageTellsWhatItIs(Path file) throws Exception {
    ElfFile elf = ElfFile.parse(file);

    assertThat(elf.name()).isEqualTo(file.getFileName().toString());
    String isa = Isas.find(elf.machine(), elf.wordBytes(), elf.bigEndian()).orElseThrow().name();
    assertThat(elf.name()).startsWith("zoo-" + isa + "-");
    assertThat(elf.buildId()).matches("[0-9a-f]{40}");
    assertThat(elf.warnings()).isEmpty();
    assertThat(elf.segments()).hasSize(3);
    assertThat(elf.segments().getFirst().permissions()).isEqualTo("r-x");
    assertThat(elf.symbol("_start")).get().extracting(Symbol::address).isEqualTo(elf.entry());
    Symbol main = elf.symbol("main").orElseThrow();
    assertThat(elf.functionAt(main.address() + main.size() - 1)).contains(main);
    assertThat(elf.functions()).extracting(Symbol::name).noneMatch(n -> n.startsWith("$"));
    assertThat(elf.functions()).extracting(Symbol::name).contains("w200_000", "do_load");
  }

  @ParameterizedTest
  @CsvSource({"true,false", "true,true", "false,false", "false,true"})
  void everyClassAndByteOrder(boolean is64, boolean bigEndian) throws Exception {
    ByteOrder order = bigEndian ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
    byte[] file =
        new ElfBuilder(is64, order)
            .machine(bigEndian ? 22 : 243)
            .load(0, 0x20000, 0, 0x3000, Elf.PF_R | Elf.PF_W)
            .symbol("f", CODE, 0x10, GLOBAL_FUNCTION)
            .mcountLoc(CODE + 0x20, CODE + 0x10, 0, 0x20000)
            .build();

    ElfFile elf = ElfFile.parse(file, "a.elf");

    assertThat(elf.is64()).isEqualTo(is64);
    assertThat(elf.order()).isEqualTo(order);
    assertThat(elf.wordBytes()).isEqualTo(is64 ? 8 : 4);
    assertThat(elf.entry()).isEqualTo(CODE);
    assertThat(elf.segments())
        .extracting(Segment::toString)
        .containsExactly("0x10400-0x10500 r-x", "0x20000-0x23000 rw-");
    assertThat(elf.functions()).extracting(Symbol::name).containsExactly("f");
    assertThat(elf.mcountLoc()).containsExactly(CODE + 0x10, CODE + 0x20);
    assertThat(elf.warnings()).hasSize(1).first().asString().contains("1 of 4 entries");
    assertThat(elf.buildId()).matches("sha256:[0-9a-f]{64}");
  }

  @Test
  void oneNamePerAddressTheFurthestReachingFirst() throws Exception {
    ElfFile elf =
        ElfFile.parse(
            ElfBuilder.elf64()
                .symbol("local", CODE, 0x10, LOCAL_FUNCTION)
                .symbol("__strong", CODE, 0x10, GLOBAL_FUNCTION)
                .symbol("weak", CODE, 0x10, WEAK_FUNCTION)
                .symbol("label_inside", CODE + 4, 0, GLOBAL_LABEL)
                .symbol("$x", CODE + 0x10, 0, 0)
                .symbol("$d.17", CODE + 0x10, 0, 0)
                .symbol("too_long", CODE + 0x20, 0x40, GLOBAL_FUNCTION)
                .symbol("next", CODE + 0x30, 0x10, GLOBAL_FUNCTION)
                .symbol("assembler", CODE + 0x80, 0, GLOBAL_LABEL)
                .symbol("in_no_segment", 0x99999, 0x10, GLOBAL_FUNCTION)
                .build(),
            "a.elf");

    assertThat(elf.functions())
        .extracting(s -> s.name() + "+" + s.size())
        .containsExactly("__strong+16", "too_long+16", "next+16", "assembler+0");
    assertThat(elf.functionAt(CODE + 0x18)).isEmpty();
    assertThat(elf.functionAt(CODE + 0x3F)).get().extracting(Symbol::name).isEqualTo("next");
    assertThat(elf.functionAt(CODE - 1)).isEmpty();
    assertThat(elf.symbol("weak")).get().extracting(Symbol::address).isEqualTo(CODE);
    assertThat(elf.symbol("absent")).isEmpty();
  }

  @Test
  void positionIndependentProgramIsMovedAsAWhole() throws Exception {
    ElfFile elf =
        ElfFile.parse(
            ElfBuilder.elf64().type(Elf.ET_DYN).symbol("f", CODE, 16, GLOBAL_FUNCTION).build(),
            "a.elf");

    long base = ElfFile.Limits.DEFAULT.pieBase();
    assertThat(elf.positionIndependent()).isTrue();
    assertThat(elf.bias()).isEqualTo(base);
    assertThat(elf.entry()).isEqualTo(CODE + base);
    assertThat(elf.functions().getFirst().address()).isEqualTo(CODE + base);
    assertThat(elf.segments().getFirst().address()).isEqualTo(CODE + base);
    assertThat(elf.section(".text")).get().extracting(Section::address).isEqualTo(CODE + base);
  }

  @Test
  void namesCannotCarryEscapeSequences() throws Exception {
    byte[] file = ElfBuilder.elf64().symbol("evil\u001b[2J", CODE, 16, GLOBAL_FUNCTION).build();

    assertThat(ElfFile.parse(file, "a.elf").functions().getFirst().name())
        .isEqualTo("evil\uFFFD[2J");
  }

  @Test
  void relocatableObjectAndSharedObjectNameTheCure(@TempDir Path folder) throws Exception {
    GuestCompiler gcc = GuestCompiler.X86_64.assumeInstalled();
    Path source = folder.resolve("m.c");
    Files.writeString(source, "int main(void) { return 0; }\n");

    Path object = gcc.compile(folder.resolve("m.o"), "-c", source.toString());
    Path dynamic = gcc.compile(folder.resolve("dynamic"), source.toString());
    Path pie = gcc.compile(folder.resolve("pie"), "-static-pie", source.toString());

    assertThatThrownBy(() -> ElfFile.parse(object))
        .isInstanceOf(ElfFormatException.class)
        .hasMessage(
            "m.o: e_type is 1 (relocatable object), allowed: 2 (executable) or 3 (static-pie);"
                + " link it into a program first");
    assertThat(ElfFile.parse(dynamic).interpreter()).contains("/lib64/ld-linux-x86-64.so.2");
    assertThat(ElfFile.parse(pie).interpreter()).isEmpty();
    assertThat(ElfFile.parse(pie).symbol("main")).isPresent();
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "/", "lib/ld.so\0", "/lib/ld.so", "/lib/\u001b[2J\0"})
  void interpreterIsAnAbsolutePathThatEnds(String path) throws Exception {
    assertThat(ElfFile.parse(withInterpreter("/lib/ld.so\0"), "a.elf").interpreter())
        .contains("/lib/ld.so");
    assertThatThrownBy(() -> ElfFile.parse(withInterpreter(path), "a.elf"))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining("PT_INTERP");
  }

  private static byte[] withInterpreter(String path) {
    byte[] bytes = path.getBytes(StandardCharsets.UTF_8);
    int at = ElfBuilder.CODE_OFFSET + 0x40;
    byte[] file =
        ElfBuilder.elf64()
            .header(Elf.PT_INTERP, at, 0, bytes.length, bytes.length, Elf.PF_R)
            .build();
    System.arraycopy(bytes, 0, file, at, bytes.length);
    return file;
  }

  @Test
  void interpreterLiesInTheFileOnce() {
    ElfBuilder far = ElfBuilder.elf64().header(Elf.PT_INTERP, 1L << 40, 0, 20, 20, Elf.PF_R);
    ElfBuilder large = ElfBuilder.elf64().header(Elf.PT_INTERP, 0, 0, 5000, 5000, Elf.PF_R);
    ElfBuilder two =
        ElfBuilder.elf64()
            .header(Elf.PT_INTERP, 0x400, 0, 2, 2, Elf.PF_R)
            .header(Elf.PT_INTERP, 0x400, 0, 2, 2, Elf.PF_R);

    for (ElfBuilder elf : List.of(far, large, two)) {
      assertThatThrownBy(() -> ElfFile.parse(elf.build(), "a.elf"))
          .isInstanceOf(ElfFormatException.class)
          .hasMessageContaining("PT_INTERP");
    }
  }

  @Test
  void refusalTellsFieldValueBoundAndCure() {
    byte[] file = ElfBuilder.elf64().load(0, 0x20000, 0, 1L << 40, Elf.PF_W).build();

    ElfFormatException e =
        catchThrowableOfType(ElfFormatException.class, () -> ElfFile.parse(file, "fw.elf"));

    assertThat(e.file()).isEqualTo("fw.elf");
    assertThat(e.field()).isEqualTo("p_memsz of program header 1");
    assertThat(e.value()).startsWith("1099511627776");
    assertThat(e.allowed()).contains("268435456");
    assertThat(e.cure()).contains("raise the memory limit");
    assertThat(e).hasMessageStartingWith("fw.elf: p_memsz of program header 1 is 1099511627776");
  }

  @Test
  void hostileLayoutsAreRefused() {
    refused(ElfBuilder.elf64().load(0, CODE + 0x80, 0, 0x100, Elf.PF_W), "overlaps");
    refused(ElfBuilder.elf64().load(0, -0x1000, 0, 0x2000, Elf.PF_W), "p_vaddr");
    refused(ElfBuilder.elf64().load(0, -0x1000, 0, 0x1000, Elf.PF_W), "p_vaddr");
    refused(ElfBuilder.elf64().load(0, 0x20000, 0, -1, Elf.PF_W), "p_vaddr");
    refused(ElfBuilder.elf64().load(0, 0x20000, 0x200, 0x100, Elf.PF_W), "p_filesz");
    refused(ElfBuilder.elf64().load(0x100000, 0x20000, 16, 16, Elf.PF_W), "inside the file");
    refused(ElfBuilder.elf64().load(-8, 0x20000, 16, 16, Elf.PF_W), "inside the file");
    refused(ElfBuilder.elf64().entry(0x99999), "e_entry");
    refused(ElfBuilder.elf64().type(Elf.ET_CORE), "core dump");
    refused(ElfBuilder.elf64().type(77), "e_type is 77");
    refused(ElfBuilder.elf64().symbolNamesLink(77), "sh_link of .symtab");
    refused(ElfBuilder.elf64().symbolNamesLink(1), "a string table");
    refused(
        ElfBuilder.elf64().symbol("n".repeat(StringTable.NAME_BYTES_MAX + 1), CODE, 1, 0x12),
        "unterminated");
  }

  @Test
  void whatIsNoElfIsNamed() {
    assertThatThrownBy(() -> ElfFile.parse(new byte[0], "empty")).hasMessageContaining("0 bytes");
    for (String start : List.of("!<arch>\n", "#!/bin/sh\n", "MZ......")) {
      byte[] content = (start + "x".repeat(100)).getBytes(StandardCharsets.US_ASCII);
      assertThatThrownBy(() -> ElfFile.parse(content, "x"))
          .isInstanceOf(ElfFormatException.class)
          .hasMessageContaining("that of a");
    }
  }

  @Test
  void folderIsNoProgram(@TempDir Path folder) {
    assertThatThrownBy(() -> ElfFile.parse(folder))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining("a folder or device");
    assertThatThrownBy(() -> ElfFile.parse(folder.resolve("none")))
        .isInstanceOf(NoSuchFileException.class);
  }

  @Test
  void manySymbolsAreNoTrouble() throws Exception {
    ElfBuilder builder = ElfBuilder.elf64();
    for (int i = 0; i < 100_000; i++) {
      builder.symbol("function_" + i, CODE + i % ElfBuilder.CODE_BYTES, 1, GLOBAL_FUNCTION);
    }

    ElfFile elf = ElfFile.parse(builder.build(), "many.elf");

    assertThat(elf.functions()).hasSize(ElfBuilder.CODE_BYTES);
    assertThat(elf.symbol("function_99999")).isPresent();
  }

  @Test
  void fileSizeLimitHolds() {
    ElfFile.Limits limits = new ElfFile.Limits(100, 1 << 20, 0x1000_0000);

    assertThatThrownBy(() -> ElfFile.parse(ElfBuilder.elf64().build(), "a", limits))
        .hasMessageContaining("the file size");
  }

  private static void refused(ElfBuilder lie, String why) {
    assertThatThrownBy(() -> ElfFile.parse(lie.build(), "lie.elf"))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining(why);
  }
}
