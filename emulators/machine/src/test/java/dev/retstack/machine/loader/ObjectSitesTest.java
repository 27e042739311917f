package dev.retstack.machine.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.machine.loader.FoundSite.Knowledge;
import dev.retstack.machine.loader.FoundSite.State;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.machine.testing.Images;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Call sites by relocations: those of an object against those that a scan finds in the program that
 * it is linked into, for every variant of the zoo whose compiler is installed.
 */
final class ObjectSitesTest {
  // System V gABI, chapter 4
  private static final int EI_CLASS = 4;
  private static final int ELFCLASS64 = 2;
  private static final int EI_DATA = 5;
  private static final int ELFDATA2MSB = 2;
  private static final int SHT_SYMTAB = 2;
  private static final int SHT_RELA = 4;
  private static final int SHT_REL = 9;
  private static final long SHF_EXECINSTR = 4;

  private static final String FUNCTIONS =
      """
      int leaf(int x) { return x + 1; }
      static __attribute__((noinline)) int hidden(int x) { return leaf(x) ^ x; }
      __attribute__((section(".text.far"))) int far_away(int x) { return hidden(x) + leaf(x); }
      int calls(int x) {
        volatile int y[4];
        y[x & 3] = leaf(x);
        return far_away(y[x & 3]) + hidden(x);
      }
      __attribute__((cold)) int cold(int x) { return calls(x) - 1; }
      """;

  private static final Pattern INSTRUMENTING =
      Pattern.compile("-pg|-mfentry|-m.*mcount.*|-mprofile-kernel|-fpatchable-function-entry.*");

  private static final List<String> LINKED =
      List.of("-static", "-no-pie", "-nostdlib", "-nostartfiles");

  @TempDir static Path folder;

  static Stream<String> variants() throws IOException {
    JsonNode manifest =
        new ObjectMapper().readTree(Images.FOLDER.resolve("manifest.json").toFile());
    return StreamSupport.stream(manifest.get("images").spliterator(), false)
        .map(image -> image.get("file").asText());
  }

  private static JsonNode variant(String file) throws IOException {
    JsonNode manifest =
        new ObjectMapper().readTree(Images.FOLDER.resolve("manifest.json").toFile());
    return StreamSupport.stream(manifest.get("images").spliterator(), false)
        .filter(image -> image.get("file").asText().equals(file))
        .findFirst()
        .orElseThrow();
  }

  private static String compiler(JsonNode variant) {
    String compiler = variant.get("compiler").asText().split(" ", 2)[0];
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    return compiler;
  }

  private static List<String> flags(JsonNode variant, Predicate<String> which) {
    return StreamSupport.stream(variant.get("flags").spliterator(), false)
        .map(JsonNode::asText)
        .filter(which)
        .toList();
  }

  private static Path object(String image) throws Exception {
    Path object = folder.resolve(image + ".o");
    if (Files.exists(object)) {
      return object;
    }
    JsonNode variant = variant(image);
    Path source = Files.writeString(folder.resolve("functions.c"), FUNCTIONS);
    List<String> flags = new ArrayList<>(flags(variant, _ -> true));
    flags.addAll(List.of("-c", source.toString()));
    return GuestCompiler.compileWith(compiler(variant), object, flags.toArray(String[]::new));
  }

  /** The object's program, with the relocations that made it, as two tests want it. */
  private static Path linked(String image) throws Exception {
    Path program = folder.resolve(image + ".program");
    return Files.exists(program) ? program : linked(image, program, "-Wl,--emit-relocs");
  }

  private static Path linked(String image, Path program, String flag) throws Exception {
    JsonNode variant = variant(image);
    Path object = object(image);
    String counting = variant.get("countingFunction").asText();
    Path source =
        Files.writeString(
            folder.resolve("start.c"),
            "void %s(void) {}\nint calls(int);\nvoid _start(void) { calls(1); }\n"
                .formatted(counting.isEmpty() ? "unused" : counting));
    List<String> flags = new ArrayList<>(flags(variant, f -> !INSTRUMENTING.matcher(f).matches()));
    flags.addAll(LINKED);
    flags.addAll(List.of(flag, source.toString(), object.toString()));
    return GuestCompiler.compileWith(compiler(variant), program, flags.toArray(String[]::new));
  }

  /** What does not depend on where a linker puts things. */
  private static List<String> places(List<FoundSite> sites) {
    return sites.stream()
        .map(s -> "%s%+d %s %s".formatted(s.function(), s.offset(), s.convention(), s.state()))
        .sorted()
        .toList();
  }

  @ParameterizedTest
  @MethodSource("variants")
  void theSitesOfAnObjectAreThoseOfTheProgramItIsLinkedInto(String image) throws Exception {
    JsonNode variant = variant(image);
    LoadedImage unlinked = LoadedImage.loadUnlinked(object(image));
    List<FoundSite> sites = SiteFinder.find(unlinked);
    boolean relaxes = variant.get("isa").asText().startsWith("riscv");
    Path program =
        relaxes ? linked(image, folder.resolve("program"), "-Wl,--no-relax") : linked(image);
    List<FoundSite> scanned = SiteFinder.find(withoutRelocations(program));
    assertThat(scanned).hasSize(5);
    assertThat(places(sites)).isEqualTo(places(scanned));
    for (FoundSite site : sites) {
      String section = unlinked.elf().place(site.address()).orElseThrow().name();
      switch (site.function()) {
        case "far_away" -> assertThat(section).isEqualTo(".text.far");
        case "cold" -> assertThat(section).isEqualTo(".text.unlikely");
        default -> assertThat(section).isEqualTo(".text");
      }
      boolean inTable = !variant.get("sites").asText().equals("calls");
      if (!inTable) {
        assertThat(site.knowledge()).isEqualTo(Knowledge.RELOCATION);
        assertThat(site.state()).isEqualTo(State.CALL);
      }
    }
    assertThat(unlinked.elf().buildId()).startsWith("sha256:");
  }

  /** With relaxation: calls have other forms then, and relocations other types. */
  @ParameterizedTest
  @MethodSource("variants")
  void relocationsThatALinkerKeepsNameTheCallsThatAScanFinds(String image) throws Exception {
    Path program = linked(image);
    LoadedImage kept = LoadedImage.load(program);
    LoadedImage scanned = withoutRelocations(program);
    List<Long> calls =
        SiteFinder.find(scanned).stream()
            .filter(site -> site.state() == State.CALL)
            .map(FoundSite::address)
            .toList();
    assertThat(kept.relocatedSites().longStream().sorted().boxed().toList()).isEqualTo(calls);
    assertThat(scanned.relocatedSites()).isEmpty();
    assertThat(SiteFinder.find(kept))
        .extracting(FoundSite::address)
        .isEqualTo(SiteFinder.find(scanned).stream().map(FoundSite::address).toList());
  }

  private static LoadedImage withoutRelocations(Path program)
      throws IOException, ElfFormatException {
    byte[] bytes = Files.readAllBytes(program);
    boolean is64 = bytes[EI_CLASS] == ELFCLASS64;
    ByteBuffer file =
        ByteBuffer.wrap(bytes)
            .order(bytes[EI_DATA] == ELFDATA2MSB ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    int at = is64 ? (int) file.getLong(40) : file.getInt(32);
    for (int i = file.getShort(is64 ? 60 : 48); i > 0; i--) {
      int type = file.getInt(at + 4);
      if (type == SHT_REL || type == SHT_RELA) {
        file.putInt(at + 4, 0);
      }
      at += is64 ? 64 : 40;
    }
    return LoadedImage.of(ElfFile.parse(bytes, "scanned"));
  }

  /**
   * {@code mflr}, and {@code std} of older compilers, serve the call: they are one site with it, be
   * it switched on or off, and whichever of its instructions the table names.
   */
  @ParameterizedTest
  @CsvSource({
    "bl _mcount, CALL, mflr r0; bl",
    "nop, NOP, mflr r0; no call",
    "-, NOP, 2 x nop",
  })
  void aSiteOfPpc64IsItsCallAndWhatServesIt(String last, State state, String form)
      throws Exception {
    for (String compiler : List.of("powerpc64-linux-gnu-gcc", "powerpc64le-linux-gnu-gcc")) {
      Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
      for (int instructions = 2; instructions <= 3; instructions++) {
        for (int named : new int[] {0, instructions - 1}) {
          List<FoundSite> sites = ppc64(compiler, last, instructions, named);
          assertThat(sites).as("%s, %d, entry %d", compiler, instructions, named).hasSize(1);
          FoundSite site = sites.getFirst();
          assertThat(site.state()).isEqualTo(state);
          assertThat(site.knowledge()).isEqualTo(Knowledge.MCOUNT_LOC);
          assertThat(site.bytes().size()).isEqualTo(4 * instructions);
          assertThat(site.address() - site.start()).isEqualTo(4L * (instructions - 1));
          assertThat(site.offset()).isEqualTo(4L * (instructions - 1));
          assertThat(site.form())
              .isEqualTo(
                  instructions == 2
                      ? form
                      : form.replace("r0", "r0; std r0,16(r1)").replace("2 x", "3 x"));
        }
      }
    }
  }

  /**
   * An object with one function.
   *
   * @param last instruction of the site; {@code -}: all are nops
   * @param named index of the one that the table names
   */
  private List<FoundSite> ppc64(String compiler, String last, int instructions, int named)
      throws Exception {
    List<String> site = new ArrayList<>(List.of("mflr 0", "std 0,16(1)"));
    site = new ArrayList<>(site.subList(0, instructions - 1));
    site.add(last);
    if (last.equals("-")) {
      site.replaceAll(_ -> "nop");
    }
    StringBuilder code = new StringBuilder(".text\n.type f,@function\nf:\n");
    for (int i = 0; i < instructions; i++) {
      code.append(i == named ? "1: " : "").append(site.get(i)).append('\n');
    }
    code.append("std 0,-8(1)\nblr\n.size f,.-f\n.section __mcount_loc,\"a\"\n.8byte 1b\n");
    Path source = Files.writeString(folder.resolve("site.s"), code);
    Path object = folder.resolve("site.o");
    GuestCompiler.compileWith(compiler, object, "-c", source.toString());
    return SiteFinder.find(LoadedImage.loadUnlinked(object));
  }

  @Test
  void anObjectIsNoProgram() throws Exception {
    Path object = object("zoo-x86_64-fentry.elf");
    assertThatThrownBy(() -> LoadedImage.load(object))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining("1 (relocatable object)")
        .hasMessageContaining("link it into a program first");
  }

  @Test
  void objectsThatLieAreRefusedByASentence() throws Exception {
    byte[] object = Files.readAllBytes(object("zoo-x86_64-fentry.elf"));
    int sections = (int) little(object).getLong(40);
    int count = little(object).getShort(60);
    refused(Arrays.copyOf(object, object.length / 2), "e_shoff", "cut off or damaged");
    for (int i = 0; i < count; i++) {
      int header = sections + i * 64;
      if (little(object).getInt(header + 4) == SHT_RELA) {
        refused(with(object, header + 44, 9_999), "sh_info of .rela", "below");
        refused(with(object, header + 56, 23), "sh_entsize of .rela", "allowed: 24");
        refused(with(object, header + 32, 1 << 30), "sh_offset of section " + i, "inside the file");
      }
      if (little(object).getInt(header + 4) == SHT_SYMTAB) {
        int symbols = (int) little(object).getLong(header + 24);
        refused(with(object, symbols + 24 + 4, 0x7777_0000), "st_shndx of symbol 1", "below");
      }
      if ((little(object).getLong(header + 8) & SHF_EXECINSTR) != 0) {
        refused(with(object, header + 48, 3), "sh_addralign of .text", "a power of two");
      }
    }
  }

  private static ByteBuffer little(byte[] bytes) {
    return ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] with(byte[] object, int at, int value) {
    byte[] changed = object.clone();
    little(changed).putInt(at, value);
    return changed;
  }

  private static void refused(byte[] object, String field, String allowed) {
    assertThatThrownBy(() -> ElfFile.parseUnlinked(object, "lie.o"))
        .isInstanceOf(ElfFormatException.class)
        .hasMessageStartingWith("lie.o: ")
        .hasMessageContaining(field)
        .hasMessageContaining(allowed);
  }
}
