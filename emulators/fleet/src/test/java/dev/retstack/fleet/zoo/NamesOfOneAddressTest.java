package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import dev.retstack.schema.Image;
import dev.retstack.schema.OtherName;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.chunk.Chunks;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Several names that stand at one address. */
class NamesOfOneAddressTest {
  private static final String PROGRAM =
      """
      __attribute__((noinline, noclone)) int one(int n) { return n + 1; }
      int uno(int) __attribute__((alias("one")));
      static int eins(int) __attribute__((alias("one"), used));
      static int (*choose(void))(int) { return one; }
      int picked(int) __attribute__((ifunc("choose")));
      int main(void) { return one(1) + uno(2) + picked(3) - 9; }
      """;

  @TempDir private Path folder;

  private LoadedImage image() throws IOException, InterruptedException {
    Path source = Files.writeString(folder.resolve("names.c"), PROGRAM);
    return LoadedImage.load(
        GuestCompiler.X86_64
            .assumeInstalled()
            .compile(
                folder.resolve("names"), "-O1", "-pg", "-mfentry", "-static", source.toString()));
  }

  @ParameterizedTest
  @ValueSource(strings = {"one", "uno", "eins", "un?", "/^ei/"})
  void eachOfThemIsThatOfTheFunction(String name) throws Exception {
    assertThat(counts(image(), name)).containsOnly(Map.entry("one", 3L));
  }

  /** The message that announces the image has them, too. */
  @Test
  void readersGetAllOfThem() throws Exception {
    Image announced = image().toSchema();
    assertThat(names(announced, "one")).containsExactlyInAnyOrder("uno", "eins");
    assertThat(names(announced, "choose")).containsExactly("picked");
    assertThat(names(announced, "main")).isEmpty();
    Chunks.check(announced);
  }

  /** Constructors of complete and of base objects are one function where no base is virtual. */
  @Test
  void aConstructorHasBothOfItsNames() throws Exception {
    Path source =
        Files.writeString(
            folder.resolve("thing.cc"),
            """
            struct Thing { int v; Thing(int n); };
            __attribute__((noinline)) Thing::Thing(int n) : v(n) {}
            int main(int argc, char **) { return Thing(argc).v - 1; }
            """);
    assumeTrue(GuestCompiler.installed("g++"), "skipped: no g++");
    Path program =
        GuestCompiler.compileWith(
            "g++", folder.resolve("thing"), "-O1", "-pg", "-mfentry", "-static", source.toString());
    LoadedImage image = LoadedImage.load(program);
    assertThat(names(image.toSchema(), "_ZN5ThingC1Ei")).containsExactly("_ZN5ThingC2Ei");
    assertThat(counts(image, "_ZN5ThingC2Ei")).containsOnly(Map.entry("_ZN5ThingC1Ei", 1L));
  }

  /** Two functions of the same code are one behind linkers that fold them. */
  @ParameterizedTest
  @ValueSource(strings = {"gold", "lld"})
  void aFoldedFunctionHasTheNamesOfAll(String linker) throws Exception {
    assumeTrue(GuestCompiler.installed("ld." + linker), "skipped: no ld." + linker);
    Path source =
        Files.writeString(
            folder.resolve("folded.c"),
            """
            __attribute__((noinline, noclone)) int red(int n) { return n * 3 + 1; }
            __attribute__((noinline, noclone)) int green(int n) { return n * 3 + 1; }
            int main(int argc, char **argv) { return red(argc) - green(argc); }
            """);
    Path program =
        GuestCompiler.X86_64
            .assumeInstalled()
            .compile(
                folder.resolve("folded"),
                "-O1",
                "-fno-ipa-icf",
                "-ffunction-sections",
                "-pg",
                "-mfentry",
                "-static",
                "-fuse-ld=" + linker,
                "-Wl,--icf=all",
                source.toString());
    LoadedImage image = LoadedImage.load(program);
    Image announced = image.toSchema();
    List<String> names = new ArrayList<>(names(announced, "red"));
    names.addAll(names(announced, "green"));
    assertThat(names)
        .as("one is the other name of the other")
        .hasSize(1)
        .isSubsetOf("red", "green");
    assertThat(counts(image, "red")).isEqualTo(counts(image, "green")).containsValue(2L);
  }

  /** Labels of hand-written code are names of it, unless a function says what it is called. */
  @Test
  void labelsAreNamesWhereThereAreOnlyLabels() throws Exception {
    Path source =
        Files.writeString(
            folder.resolve("labels.s"),
            """
            .text
            .globl _start, first, second, label, typed
            _start: ret
            first:
            second: nop
              ret
            label:
            .type typed,@function
            typed: ret
            """);
    Image announced =
        LoadedImage.load(
                GuestCompiler.X86_64
                    .assumeInstalled()
                    .compile(
                        folder.resolve("labels"),
                        "-nostdlib",
                        "-static",
                        "-no-pie",
                        source.toString()))
            .toSchema();
    assertThat(names(announced, "first")).containsExactly("second");
    assertThat(names(announced, "typed")).isEmpty();
  }

  private static List<String> names(Image image, String function) {
    List<String> symbols = image.getSymbols().stream().map(Symbol::getName).toList();
    int symbol = symbols.indexOf(function);
    return image.getOtherNames().stream()
        .filter(other -> other.getSymbol() == symbol)
        .map(OtherName::getName)
        .toList();
  }

  private static Map<String, Long> counts(LoadedImage image, String filter) throws Exception {
    TraceSettings only =
        TraceSettings.standard().withFilters(List.of(FunctionPattern.parse(filter)));
    Run run = Run.of(image, Run.options().withTrace(only), 1_000_000, core -> {});
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    return run.counts();
  }

  /** The name of type IFUNC is that of the function that is picked. */
  @Test
  void aFunctionThatPicksAnotherHasItsOwnName() throws Exception {
    assertThat(Run.of(image()).counts()).containsKeys("choose", "main").doesNotContainKey("picked");
  }
}
