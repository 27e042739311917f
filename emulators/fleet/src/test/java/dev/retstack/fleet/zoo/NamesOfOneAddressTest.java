package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.loader.GuestCompiler;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TraceSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
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
    TraceSettings only = TraceSettings.standard().withFilters(List.of(FunctionPattern.parse(name)));
    Run run = Run.of(image(), Run.options().withTrace(only), 1_000_000, core -> {});
    assertThat(run.ending().detail()).isEqualTo("exited with code 0");
    assertThat(run.counts()).hasSize(1).containsEntry("one", 3L);
  }

  /** The name of type IFUNC is that of the function that is picked. */
  @Test
  void aFunctionThatPicksAnotherHasItsOwnName() throws Exception {
    assertThat(Run.of(image()).counts()).containsKeys("choose", "main").doesNotContainKey("picked");
  }
}
