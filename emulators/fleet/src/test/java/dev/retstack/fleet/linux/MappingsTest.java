package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Memory that a program maps, protects and unmaps, as on a machine. */
class MappingsTest {
  /** A change of a memory map of many regions of the engine counts against it. */
  private static final long INSTRUCTIONS = 400_000_000;

  @TempDir private Path folder;

  private static HostedRun run(Path program, ProbeKind probe, int many) throws Exception {
    LinuxOptions linux =
        LinuxOptions.of("prog")
            .withArguments(List.of("prog", "" + many))
            .withStackBytes(8 << 20)
            .withMemoryBytesMax(3L << 30);
    CoreOptions options = CoreOptions.of(linux).withProbe(probe).withInstructionLimit(INSTRUCTIONS);
    return HostedRun.of(program, options, "", 1_000_000);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#some")
  void pagesComeChangeAndGoAsOnAMachine(SignalForm form) throws Exception {
    Path program = form.build(folder, "mappings.c");
    HostedRun run = run(program, ProbeKind.AUTO, 100);

    assertThat(run.stdout() + "code " + run.result().ending().exitCode())
        .isEqualTo(form.elsewhere(program));
    assertThat(run(program, ProbeKind.JAVA, 100).records()).isEqualTo(run.records());
  }

  /**
   * As many as Linux has room for; each was a region of the engine, and a change went through all.
   */
  @Test
  void manyMappingsCostNoMoreThanFew() throws Exception {
    Path program = SignalForm.X86_64.build(folder, "mappings.c");
    HostedRun run = run(program, ProbeKind.AUTO, 32_000);

    assertThat(run.result().ending().detail()).isEqualTo("exited with code 0");
    assertThat(run.stdout()).endsWith("\n0\n");
  }
}
