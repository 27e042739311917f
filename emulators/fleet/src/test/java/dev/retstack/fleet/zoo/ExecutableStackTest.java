package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Programs that run code on their stack, as PT_GNU_STACK says that they may. */
class ExecutableStackTest {
  private static final String PROGRAM = "trampoline";
  private static final int PT_NULL = 0;
  private static final int PT_GNU_STACK = 0x6474_e551;
  private static final int READ_WRITE_EXECUTE = 7;

  @TempDir static Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "x86_64-mcount-O0", "x86_64-fentry-O2", "i386-mcount-O2", "aarch64-mcount-O0",
        "aarch64-patchable-O2", "riscv64-mcount-O0", "riscv64-mcount-nofp-O2", "m68k-mcount-O2",
        "mips-mcount-O0", "mipsel-mcount-O2", "arm-mcount-O2", "arm-thumb-mcount-O2",
        "s390x-mcount-O2", "ppc32-mcount-O2", "ppc64-mcount-O2", "ppc64le-mcount-O2",
        "mips64-mcount-O2"
      })
  void trampolinesOfNestedFunctionsRunAndAreTraced(String form) throws Exception {
    LoadedImage image = image(form, PT_GNU_STACK, READ_WRITE_EXECUTE);
    Run untraced = Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {}, PROGRAM);
    assertThat(untraced.ending().detail()).isEqualTo("exited with code 0");
    Run java = traced(image, ProbeKind.JAVA);
    Run inC = traced(image, ProbeKind.NATIVE);
    Records.assertSame(java, inC);
    assertThat(inC.instructions()).isEqualTo(java.instructions());
    for (Run run : List.of(java, inC)) {
      assertThat(run.ending()).isEqualTo(untraced.ending());
      assertThat(run.unhijackable()).isZero();
      assertThat(run.counts())
          .isEqualTo(Map.of("run_trampoline", 1L, "outer", 2L, "apply", 4L, "inner", 12L));
    }
    assertThat(java.tree().lines())
        .containsSubsequence(
            "run_trampoline", "  outer", "    apply", "      inner", "        apply");
  }

  /** A program of before the header: what Linux does with it differs from ISA to ISA. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "i386-mcount-O2",
        "arm-mcount-O2",
        "m68k-mcount-O2",
        "mips-mcount-O0",
        "ppc32-mcount-O2"
      })
  void withoutTheHeaderAnOlderIsaMayExecuteWhatItMayRead(String form) throws Exception {
    LoadedImage image = image(form, PT_NULL, 0);
    assertThat(traced(image, ProbeKind.NATIVE).ending().detail()).isEqualTo("exited with code 0");
  }

  @ParameterizedTest
  @ValueSource(strings = {"x86_64-mcount-O0", "aarch64-mcount-O0", "riscv64-mcount-O0"})
  void withoutTheHeaderANewerIsaMayNot(String form) throws Exception {
    LoadedImage image = image(form, PT_NULL, 0);
    assertThat(traced(image, ProbeKind.NATIVE).ending().end()).isEqualTo(CoreEnd.FAULTED);
  }

  @Test
  void whereTheHeaderForbidsItTheCoreFaults() throws Exception {
    LoadedImage image = image("i386-mcount-O2", PT_GNU_STACK, READ_WRITE_EXECUTE & ~1);
    assertThat(traced(image, ProbeKind.NATIVE).ending().end()).isEqualTo(CoreEnd.FAULTED);
  }

  private static Run traced(LoadedImage image, ProbeKind probe) {
    return Run.of(image, Run.options().withProbe(probe), 1_000, core -> {}, PROGRAM);
  }

  /** The program, with another header than the linker script of the zoo has. */
  private static LoadedImage image(String form, int type, int flags) throws Exception {
    Path built = folder.resolve("zoo-" + form + ".elf");
    if (!Files.exists(built)) {
      build(form);
    }
    byte[] elf = Files.readAllBytes(built);
    setStackHeader(ByteBuffer.wrap(elf), type, flags);
    return LoadedImage.load(Files.write(folder.resolve("changed.elf"), elf));
  }

  private static void build(String form) throws Exception {
    try (InputStream source =
        ExecutableStackTest.class.getResourceAsStream("/random/" + PROGRAM + ".c")) {
      Files.copy(source, folder.resolve(PROGRAM + ".c"), StandardCopyOption.REPLACE_EXISTING);
    }
    String said =
        GuestScript.build(
            Zoo.GUEST,
            Map.of("ZOO_LINK_FLAGS", "-Wl,--no-warn-execstack -lgcc"),
            List.of("--sources", folder.toString(), form));
    assumeTrue(said.startsWith("built: "), said);
  }

  private static void setStackHeader(ByteBuffer elf, int type, int flags) {
    elf.order(elf.get(5) == 2 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
    boolean wide = elf.get(4) == 2;
    int at = wide ? (int) elf.getLong(32) : elf.getInt(28);
    int size = elf.getShort(wide ? 54 : 42);
    while (elf.getInt(at) != PT_GNU_STACK) {
      at += size;
    }
    elf.putInt(at, type).putInt(at + (wide ? 4 : 24), flags);
  }
}
