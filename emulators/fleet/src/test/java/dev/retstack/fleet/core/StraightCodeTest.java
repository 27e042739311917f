package dev.retstack.fleet.core;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.Ram;
import dev.retstack.unicorn.testing.WithoutCompiler;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Straight code without end, where nothing was when the core was opened: a wild jump into zeroed
 * memory (nops, on mips), and code that came later. {@code BlockBoundTest} of the binding has more
 * of it in a process of its own.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StraightCodeTest {
  private static final int INSTRUCTIONS = 20_000;
  private static final Ram RAM = new Ram(0x2000_0000, 0x10_0000);

  /** An instruction that does nothing, in the order of memory. */
  private static final Map<String, String> NOPS =
      Map.ofEntries(
          Map.entry("x86_64", "90"),
          Map.entry("i386", "90"),
          Map.entry("aarch64", "1f2003d5"),
          Map.entry("arm", "00f020e3"),
          Map.entry("riscv64", "0100"),
          Map.entry("riscv32", "13000000"),
          Map.entry("ppc64", "60000000"),
          Map.entry("ppc64le", "00000060"),
          Map.entry("ppc32", "60000000"),
          Map.entry("s390x", "0700"),
          Map.entry("mips", "00000000"),
          Map.entry("mipsel", "00000000"),
          Map.entry("mips64", "00000000"),
          Map.entry("m68k", "4e71"),
          Map.entry("sparc", "01000000"));

  static Stream<Isa> isas() {
    return Isas.all().stream();
  }

  @ParameterizedTest
  @MethodSource("isas")
  void codeThatCameLater(Isa isa) {
    byte[] nop = HexFormat.of().parseHex(NOPS.get(isa.name()));
    byte[] code = new byte[(INSTRUCTIONS + 1_000) * nop.length];
    for (int i = 0; i < code.length; i++) {
      code[i] = nop[i % nop.length];
    }
    Optional<Long> instructions = Optional.empty();
    for (ProbeKind probe : List.of(ProbeKind.JAVA, ProbeKind.AUTO)) {
      Run run = run(isa, probe, probe == ProbeKind.JAVA ? 997 : 1_000_000, 3 * nop.length, code);
      // where a stop must not come before what may be a delay slot, it comes at the first jump
      boolean anywhere = !isa.engine().stopsAtJumps();
      assertThat(run.ending().detail())
          .startsWith(anywhere ? "limit of 20000 instructions" : "instruction that does not exist");
      assertThat(run.instructions())
          .isBetween((long) INSTRUCTIONS, INSTRUCTIONS + (anywhere ? 200L : 1_000L));
      assertThat(run.instructions()).isEqualTo(instructions.orElse(run.instructions()));
      instructions = Optional.of(run.instructions());
    }
  }

  @ParameterizedTest
  @MethodSource("isas")
  void zeroedMemory(Isa isa) {
    Run run = run(isa, ProbeKind.AUTO, 1_000_000, 0, new byte[0]);
    assertThat(run.ending().detail()).isNotEmpty();
  }

  private static Run run(Isa isa, ProbeKind probe, long slice, int from, byte[] code) {
    WithoutCompiler.assumeBounded();
    LoadedImage image =
        Zoo.images().stream().filter(i -> i.isa().equals(isa)).findFirst().orElseThrow();
    CoreOptions options =
        Run.options()
            .withProbe(probe)
            .withRam(List.of(RAM))
            .withEntry(OptionalLong.of(RAM.base() + from))
            .withInstructionLimit(INSTRUCTIONS);
    return Run.of(
        image,
        options,
        slice,
        core -> {
          if (code.length > 0) {
            core.engine().mem_write(RAM.base(), code);
          }
        });
  }
}
