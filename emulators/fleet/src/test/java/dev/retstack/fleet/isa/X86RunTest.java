package dev.retstack.fleet.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Programs of x86_64 whose calls of the counting function are unusual. */
final class X86RunTest {
  /**
   * Where %rbp names something else, the word above it is not a return address. Such a function is
   * entered at its first instruction.
   */
  @ParameterizedTest
  @EnumSource(ProbeKind.class)
  void aFunctionOfAnAssemblerIsEnteredAtItsFirstInstruction(ProbeKind probe, @TempDir Path folder)
      throws IOException, InterruptedException {
    LoadedImage image = compile("bare.c", "-pg", folder);
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {});
    Run run = Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {});
    assertThat(run.ending()).isEqualTo(untraced.ending());
    assertThat(run.output()).isEqualTo(untraced.output());
    assertThat(run.unhijackable()).isZero();
    assertThat(run.counts()).containsEntry("framed", 50L).containsKeys("bare", "odd");
    assertThat(image.notes()).isEmpty();
  }

  /** -mcmodel=large calls mcount through a register; another file of the program does not. */
  @ParameterizedTest
  @EnumSource(ProbeKind.class)
  void aCallOfNoKnownFormIsTraced(ProbeKind probe, @TempDir Path folder)
      throws IOException, InterruptedException {
    LoadedImage image = compile("frames.c", "-pg -mcmodel=large", folder);
    Run run = Run.of(image, Run.options().withProbe(probe), 1_000_000, core -> {});
    assertThat(run.counts()).containsEntry("sized", 50L).containsKeys("fib", "middle");
    assertThat(run.unhijackable()).isZero();
  }

  private static LoadedImage compile(String program, String flags, Path folder)
      throws IOException, InterruptedException {
    Path source = folder.resolve(program);
    try (InputStream in =
        X86RunTest.class.getResourceAsStream("/dev/retstack/fleet/contexts/" + program)) {
      Files.copy(in, source);
    }
    GuestCompiler gcc = GuestCompiler.X86_64.assumeInstalled();
    Path object = folder.resolve("object.o");
    gcc.compile(object, (flags + " -O2 -w -c " + source).split(" "));
    Path more = Files.writeString(folder.resolve("more.c"), "int more(int n) { return n + 1; }");
    Path run = folder.resolve("run");
    Path known = folder.resolve("more.o");
    gcc.compile(known, "-pg", "-O2", "-c", more.toString());
    return LoadedImage.load(gcc.compile(run, "-static", object.toString(), known.toString()));
  }
}
