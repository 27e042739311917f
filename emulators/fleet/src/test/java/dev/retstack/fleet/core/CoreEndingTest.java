package dev.retstack.fleet.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.memory.Ram;
import dev.retstack.schema.CoreEnd;
import dev.retstack.unicorn.Unicorn;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each way in which a program without an operating system ends, and what the user is told. */
class CoreEndingTest {
  static List<Snippets> snippets() {
    return Snippets.all();
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void anUnmappedWriteNamesTheAddressTheFunctionAndTheCure(Snippets snippets) {
    CoreEnding ending = snippets.run(snippets.storeUnmapped(), Run.options());
    assertThat(ending.end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(ending.detail())
        .contains("unmapped write at 0x12340000 by pc _start+0x")
        .contains("add --ram BASE:SIZE");
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void ramThatTheUserAddsIsThere(Snippets snippets) {
    CoreOptions options = Run.options().withRam(List.of(Ram.parse("0x12340000:64K")));
    // runs on behind the store into the rest of _start, which then uses registers of its own
    assertThat(snippets.run(snippets.storeUnmapped(), options).detail())
        .doesNotContain("at 0x12340000");
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void aWildJumpNamesItsTarget(Snippets snippets) {
    CoreEnding ending = snippets.run(snippets.jumpUnmapped(), Run.options());
    assertThat(ending.end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(ending.detail()).isEqualTo("jump to 0x12340000, which is not code");
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void aWriteIntoTextIsRefused(Snippets snippets) {
    CoreEnding ending = snippets.run(snippets.storeText(), Run.options());
    assertThat(ending.end()).isEqualTo(CoreEnd.FAULTED);
    assertThat(ending.detail()).contains("write of page 0x100000, which is protected");
    assertThat(ending.detail()).contains("by pc _start+0x");
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void undefinedInstructionsAndBreakpointsAreFaults(Snippets snippets) {
    for (String code : List.of(snippets.undefined(), snippets.breakpoint())) {
      CoreEnding ending = snippets.run(code, Run.options());
      assertThat(ending.end()).isEqualTo(CoreEnd.FAULTED);
      assertThat(ending.detail()).contains("by pc _start").matches(".*(instruction|exception).*");
    }
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void anIdleLoopEndsTheCore(Snippets snippets) {
    CoreEnding ending = snippets.run(snippets.idle(), Run.options());
    assertThat(ending.end()).isEqualTo(CoreEnd.HALTED);
    assertThat(ending.detail()).startsWith("idle loop at _start+0x0");
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void waitingForAnInterruptEndsTheCore(Snippets snippets) {
    CoreEnding ending = snippets.run(snippets.halt(), Run.options());
    assertThat(ending.end()).isEqualTo(CoreEnd.HALTED);
    assertThat(ending.detail()).startsWith("waits for an interrupt that never comes by pc _start");
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void aReturnFromTheEntryPointEndsTheCoreWithItsResult(Snippets snippets) {
    CoreEnding ending = snippets.run(snippets.returnSeven(), Run.options());
    assertThat(ending).isEqualTo(CoreEnding.halted(7, "entry point returned 7"));
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void codeThatAProgramWritesRunsAsItWasLastWritten(Snippets snippets) {
    CoreOptions options = Run.options().withRam(List.of(Ram.parse("0x20000000:0x1000")));
    CoreEnding ending = snippets.run(snippets.selfModifying(), options);
    assertThat(ending).isEqualTo(CoreEnding.halted(12, "entry point returned 12"));
  }

  /** Slices end where the page is code again and the TLB, found crowded, is emptied. */
  @Test
  void aProgramMayWriteItsCodeAnewForEver() {
    LoadedImage image = Zoo.images().getFirst();
    byte[] code =
        HexFormat.of()
            .parseHex(
                "b9a00f0000 bb00000020 31c0" // mov $4000,%ecx; mov $0x20000000,%ebx; xor %eax,%eax
                    .concat("c703ffc0c300 ffd3") // 1: movl $(inc %eax; ret),(%rbx); call *%rbx
                    .concat("ffc9 75f4 c3") // dec %ecx; jnz 1b; ret
                    .replace(" ", ""));
    CoreOptions options = Run.options().withRam(List.of(Ram.parse("0x20000000:0x1000")));
    Run run =
        Run.of(image, options, 3001, core -> core.engine().mem_write(image.elf().entry(), code));
    assertThat(run.ending()).isEqualTo(CoreEnding.halted(4000, "entry point returned 4000"));
  }

  @ParameterizedTest
  @MethodSource("snippets")
  void memoryThatLinuxUnmappedIsGoneAndTheProgramGoesOnUntilItUsesIt(Snippets snippets) {
    CoreOptions options = Run.options().withRam(List.of(Ram.parse("0x12340000:0x1000")));
    assertThat(snippets.run(snippets.useAfterUnmap(), options).detail())
        .startsWith("unmapped read at 0x12340000 by pc _start+0x1");
  }

  @Test
  void ramOverTheImageIsRefusedAndNothingLeaks() {
    int engines = Unicorn.openEngines();
    int hooks = Unicorn.liveHooks();
    CoreOptions options = Run.options().withRam(List.of(new Ram(0x100000, 0x1000)));
    assertThatThrownBy(() -> Core.open(Zoo.images().getFirst(), options))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("ram 0x100000:0x1000 overlaps zoo-x86_64-fentry.elf");
    assertThat(Unicorn.openEngines()).isEqualTo(engines);
    assertThat(Unicorn.liveHooks()).isEqualTo(hooks);
  }

  @Test
  void ramIsReadOrRefusedWithTheRightForm() {
    assertThat(Ram.parse("0x20000000:64K")).isEqualTo(new Ram(0x20000000, 64 << 10));
    assertThat(Ram.parse("4096:0x1000")).isEqualTo(new Ram(4096, 4096));
    assertThat(Ram.parse("0:2m")).isEqualTo(new Ram(0, 2 << 20));
    for (String bad :
        List.of("", "1", "x:1", "4096:", "4096:4K:1", "1:4096", "4096:-4096", "0:1")) {
      assertThatThrownBy(() -> Ram.parse(bad))
          .as(bad)
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("ram");
    }
  }
}
