package dev.retstack.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is traced from the beginning on, said on the command line. */
class TraceOptionsTest {
  @TempDir private Path folder;

  private Ran record(String... options) {
    String[] all = new String[options.length + 7];
    System.arraycopy(
        new String[] {"record", "--image", "zoo-riscv64-mcount", "-o", trace().toString()},
        0,
        all,
        0,
        5);
    System.arraycopy(options, 0, all, 5, options.length);
    all[all.length - 2] = "--";
    all[all.length - 1] = "sort";
    return Ran.retstack(all);
  }

  private Path trace() {
    return folder.resolve("trace.avro");
  }

  @Test
  void onlyTheNamedFunctionsAreRecorded() throws Exception {
    Path names = Files.writeString(folder.resolve("names"), "run_sort # the first\n  sort_*\n");
    Ran ran = record("--filter", "@" + names, "--notrace", "/swap$/");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);

    String functions = Ran.retstack("report", trace().toString(), "--format", "csv").out();
    assertThat(functions).contains("sort_partition", "run_sort").doesNotContain("sort_swap");
  }

  @Test
  void aFlightRecorderKeepsTheEnd() {
    Ran ran = record("--flight-recorder", "20");
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.OK);
    assertThat(ran.err()).contains("21 records");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "--filter|run_srot|no function of zoo-riscv64-mcount.elf is 'run_srot': did you mean run_sort",
        "--max-depth|-1|max-depth: no number: '-1'; say 0 for none, or up to 2147483647",
        "--tracer|graph|tracer: no such tracer: 'graph'; there are nop, function, function_graph",
        "--event|syscalls:opneat|no system call of riscv64 is 'opneat': did you mean openat",
        "--filter|/(/|filter: no regular expression: '/(/'",
        "--filter|@/no/such|no such file: /no/such",
      })
  void whatMakesNoSenseIsRefused(String option, String value, String sentence) {
    Ran ran = record(option, value);
    assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err()).contains(sentence);
  }
}
