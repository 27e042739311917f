package dev.retstack.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Labels, limits and the state that cores start in, said on the command line. */
class ProgramOptionsTest {
  @TempDir private Path folder;

  private Ran record(String... options) {
    String[] all = new String[options.length + 7];
    String[] first = {"record", "--image", "zoo-riscv64-mcount", "-o", trace().toString()};
    System.arraycopy(first, 0, all, 0, 5);
    System.arraycopy(options, 0, all, 5, options.length);
    all[all.length - 2] = "--";
    all[all.length - 1] = "deep";
    return Ran.retstack(all);
  }

  private Path trace() {
    return folder.resolve("trace.avro");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--label|rack=7 a|no label: 'rack=7 a'; key and value are up to 100 letters, digits",
        "--label|a,b=1|no label: 'a,b=1'",
        "--stack|65537|stack of 65537 bytes: a multiple of 64 KiB",
        "--start|paused|start: no such state: 'paused'; use on or off",
        "--isa|riscv65|no such ISA: riscv65",
        "--stdin|/no/such|as standard input: no such file: /no/such",
      })
  void whatMakesNoSenseIsRefused(String option, String value, String sentence) {
    Ran ran = record(option, value);
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err()).contains(sentence);
  }

  @Test
  void aSizeThatIsNoneIsAMisuse() {
    Ran ran = record("--memory", "much");
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("'much' is not a number of bytes: write for example 64K");
  }

  @Test
  void aCoreThatStartsOffRecordsNothing() {
    Ran ran = record("--start", "off", "--label", "rack=7", "--memory", "16M");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.NOTHING_RECORDED);
    assertThat(ran.err()).contains("1 core, 0 records");
  }

  @Test
  void callsBeyondTheLimitOfRetStackAreCounted() {
    Ran ran = record("--ret-stack", "4");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);
    assertThat(ran.err()).contains("calls untraced: ret_stack was full");
  }
}
