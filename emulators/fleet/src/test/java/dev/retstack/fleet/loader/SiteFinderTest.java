package dev.retstack.fleet.loader;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.FoundSite;
import dev.retstack.machine.loader.FoundSite.Knowledge;
import dev.retstack.machine.loader.FoundSite.State;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.SiteFinder;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The call sites of every image against what its sources, its tables and its symbols tell. */
class SiteFinderTest {
  static Stream<LoadedImage> images() {
    return Zoo.images().stream();
  }

  private static LoadedImage image(String name) {
    try {
      return LoadedImage.load(Zoo.GUEST.resolve("images").resolve(name));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** What was noted of an image when it was built. */
  private static JsonNode manifest(LoadedImage image) throws Exception {
    JsonNode all = new ObjectMapper().readTree(Zoo.GUEST.resolve("images/manifest.json").toFile());
    for (JsonNode entry : all.get("images")) {
      if (entry.get("file").asText().equals(image.elf().name())) {
        return entry;
      }
    }
    throw new AssertionError("the manifest does not name " + image.elf().name());
  }

  /**
   * What the sources say is instrumented: all functions of the programs, and none of the runtime.
   */
  private static Set<String> instrumented(LoadedImage image) {
    Set<String> ofPrograms =
        Zoo.programs(image).stream()
            .map(Zoo::counts)
            .flatMap(counts -> counts.keySet().stream())
            .collect(Collectors.toCollection(TreeSet::new));
    image.elf().functions().stream()
        .map(Symbol::name)
        .filter(name -> name.startsWith("w200_")) // some are called by no default run
        .forEach(ofPrograms::add);
    return ofPrograms;
  }

  @ParameterizedTest
  @MethodSource("images")
  void everyInstrumentedFunctionHasOneSiteAndNothingElseHas(LoadedImage image) {
    List<FoundSite> sites = SiteFinder.find(image);
    assertThat(sites)
        .extracting(FoundSite::function)
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(instrumented(image));
    assertThat(sites).extracting(FoundSite::address).isSortedAccordingTo(Long::compareUnsigned);
  }

  /** Another reader's word, where it is installed: the calls that objdump sees. */
  @ParameterizedTest
  @MethodSource("images")
  void callsAreThoseOfObjdump(LoadedImage image) throws Exception {
    JsonNode entry = manifest(image);
    List<Long> calls = Objdump.calls(entry, image);
    if (calls == null || entry.get("countingFunction").asText().isEmpty()) {
      return; // of nops, tables tell: see below
    }
    List<Long> found =
        SiteFinder.find(image).stream()
            .filter(site -> site.state() == State.CALL)
            .map(FoundSite::address)
            .toList();
    assertThat(found).isEqualTo(calls);
  }

  @ParameterizedTest
  @MethodSource("images")
  void statesAndKnowledgeAreThoseOfTheConvention(LoadedImage image) throws Exception {
    JsonNode entry = manifest(image);
    boolean nops =
        entry.get("countingFunction").asText().isEmpty() || image.elf().name().endsWith("-nop.elf");
    Knowledge knowledge =
        switch (entry.get("sites").asText()) {
          case "__mcount_loc" -> Knowledge.MCOUNT_LOC;
          case "__patchable_function_entries" -> Knowledge.PATCHABLE;
          default -> Knowledge.SCAN;
        };
    assertThat(SiteFinder.find(image))
        .allSatisfy(
            site -> {
              assertThat(site.state()).isEqualTo(nops ? State.NOP : State.CALL);
              assertThat(site.knowledge()).isEqualTo(knowledge);
              assertThat(image.conventions())
                  .anyMatch(c -> c.card().name().equals(site.convention()));
              assertThat(site.bytes().toByteArray()).isEqualTo(bytes(image, site));
            });
  }

  private static byte[] bytes(LoadedImage image, FoundSite site) {
    byte[] bytes = new byte[site.bytes().size()];
    image.elf().memory(site.start(), bytes.length).orElseThrow().get(0, bytes);
    return bytes;
  }

  @Test
  void lengthsOfNopsAreThoseThatCompilersLeave() {
    assertThat(forms("zoo-s390x-mcount-nop.elf")).containsExactly("18 3 x nop");
    assertThat(forms("zoo-s390x-fentry-nop.elf")).containsExactly("6 nop");
    assertThat(forms("zoo-s390x-patchable.elf")).containsExactly("6 3 x nop");
    assertThat(forms("zoo-x86_64-patchable.elf")).containsExactly("5 5 x nop");
    assertThat(forms("zoo-aarch64-patchable.elf")).containsExactly("8 2 x nop");
    assertThat(forms("zoo-riscv64-patchable.elf")).containsExactly("8 4 x nop");
    assertThat(forms("zoo-ppc64-patchable.elf")).containsExactly("8 2 x nop");
    assertThat(forms("zoo-arm-patchable.elf")).containsExactly("8 2 x nop");
    assertThat(forms("zoo-arm-thumb-patchable.elf")).containsExactly("6 3 x nop");
    assertThat(forms("zoo-x86_64-mcount-pic.elf")).containsExactly("6 addr32 call");
    assertThat(forms("zoo-x86_64-mcount-got.elf")).containsExactly("6 call *GOT(%rip)");
  }

  private static Collection<String> forms(String image) {
    return SiteFinder.find(image(image)).stream()
        .map(site -> site.bytes().size() + " " + site.form())
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** s390x -pg counts the store in front of the call to the site. */
  @Test
  void anEntryInFrontOfItsCallIsKept() {
    assertThat(SiteFinder.find(image("zoo-s390x-mcount.elf")))
        .allSatisfy(site -> assertThat(site.tableEntry()).isEqualTo(site.address() - 6));
  }

  /** Nops that -mnop-mcount, the kernel or a patch leaves, put in place of one listed call. */
  @Test
  void everyFormOfNopIsKnownWhereATableNamesIt() throws Exception {
    String x86 = "zoo-x86_64-fentry.elf";
    nop(x86, "0f 1f 44 00 00", "nop");
    nop(x86, "0f 1f 44 00 08", "nop");
    nop(x86, "90 90 90 90 90", "5 x nop");
    nop(x86, "66 90 0f 1f 00", "2 x nop");
    nop(x86, "0f 1f 40 00 90", "2 x nop");
    nop("zoo-i386-fentry.elf", "0f 1f 44 00 00", "nop");
    nop("zoo-x86_64-patchable.elf", "0f 1f 44 00 00", "nop");
    nop("zoo-s390x-fentry.elf", "c0 04 00 00 00 00", "nop");
    nop("zoo-s390x-patchable.elf", "47 00 00 00 07 00", "2 x nop");
    nop("zoo-arm-thumb-patchable.elf", "af f3 00 80 00 bf", "2 x nop");
    nop("zoo-arm-patchable.elf", "00 00 a0 e1 00 f0 20 e3", "2 x nop");
    nop("zoo-riscv64-patchable.elf", "13 00 00 00 01 00 01 00", "3 x nop");
  }

  /** The canary: bytes that are neither call nor nop are not taken for either. */
  @Test
  void otherBytesAreUnknown() throws Exception {
    FoundSite site = changed("zoo-x86_64-fentry.elf", "0f 0b 0f 0b 0f");
    assertThat(site.state()).isEqualTo(State.UNKNOWN);
    assertThat(site.convention()).isEmpty();
    assertThat(site.bytes().toByteArray()).startsWith(0x0f, 0x0b, 0x0f, 0x0b, 0x0f);
  }

  /** A call that no table knows is found beside those that one knows. */
  @Test
  void callsThatTheTableForgotAreFoundByTheirBytes() throws Exception {
    LoadedImage whole = image("zoo-x86_64-fentry.elf");
    byte[] file = Files.readAllBytes(whole.elf().file().orElseThrow());
    FoundSite first = SiteFinder.find(whole).getFirst();
    byte[] entry = ByteBuffer.allocate(8).putLong(Long.reverseBytes(first.address())).array();
    System.arraycopy(new byte[8], 0, file, indexOf(file, entry), 8);
    List<FoundSite> sites = SiteFinder.find(LoadedImage.of(ElfFile.parse(file, "changed.elf")));
    assertThat(sites).hasSameSizeAs(SiteFinder.find(whole));
    assertThat(sites.getFirst().address()).isEqualTo(first.address());
    assertThat(sites.getFirst().knowledge()).isEqualTo(Knowledge.SCAN);
    assertThat(sites.subList(1, sites.size()))
        .allSatisfy(site -> assertThat(site.knowledge()).isEqualTo(Knowledge.MCOUNT_LOC));
  }

  private static void nop(String image, String hex, String form) throws Exception {
    FoundSite site = changed(image, hex);
    assertThat(site.state()).as(image + " " + hex).isEqualTo(State.NOP);
    assertThat(site.form()).as(image + " " + hex).isEqualTo(form);
    assertThat(HexFormat.ofDelimiter(" ").formatHex(site.bytes().toByteArray())).isEqualTo(hex);
  }

  /** The first site of an image with other bytes there. */
  private static FoundSite changed(String name, String hex) throws Exception {
    LoadedImage image = image(name);
    FoundSite site = SiteFinder.find(image).getFirst();
    byte[] file = Files.readAllBytes(image.elf().file().orElseThrow());
    byte[] around = new byte[64];
    image.elf().memory(site.address(), around.length).orElseThrow().get(0, around);
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));
    assertThat(bytes).as("as long as what it replaces").hasSize(site.bytes().size());
    System.arraycopy(bytes, 0, file, indexOf(file, around), bytes.length);
    LoadedImage other = LoadedImage.of(ElfFile.parse(file, name));
    List<FoundSite> all = new ArrayList<>(SiteFinder.find(other));
    return all.stream().filter(s -> s.address() == site.address()).findFirst().orElseThrow();
  }

  private static int indexOf(byte[] file, byte[] wanted) {
    for (int i = 0; i + wanted.length <= file.length; i++) {
      if (ByteBuffer.wrap(file, i, wanted.length).equals(ByteBuffer.wrap(wanted))) {
        return i;
      }
    }
    throw new AssertionError("the bytes are not in the file");
  }
}
