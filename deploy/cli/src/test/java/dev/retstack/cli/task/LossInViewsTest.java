package dev.retstack.cli.task;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Three records that a core dropped between 75 and 79 are seen in every view of its trace. */
class LossInViewsTest {
  @TempDir private Path dir;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          graph                       | LOST: 3 records dropped at the core
          graph --format json         | "kind":"LOSS","records":3
          graph --format csv          | DROPPED,75,75,RETURNED,LOSS,"3, before record 12, chunk 0"
          graph --task 0              | LOST: 3 records dropped at the core
          report                      | 3  c0    before record 12, chunk 0     75     79
          report --format json        | "losses":[{"kind":"DROPPED","records":3
          report --by-task            | 3 lost: 80.00 % complete
          report --edges              | 3 lost: 80.00 % complete
          anomalies                   | LOST on core c0
          anomalies --format json     | "kind":"LOST"
          anomalies --format csv      | LOST,c0,0,
          export --format perfetto -o - | LOST
          """)
  void isSeen(String view, String expected) throws Exception {
    String trace = TwoTasks.write(dir.resolve("lossy.avro"), 3).toString();
    List<String> words = new ArrayList<>(List.of(view.split(" ", -1)));
    words.add(1, trace);
    Ran ran = Ran.well(words.toArray(String[]::new));
    assertThat(ran.out()).contains(expected);
  }

  /** A stack has time only where that is known: that of the call that the loss cut off is not. */
  @Test
  void stacksHaveNoTimeThatTheLossLeavesUnknown() throws Exception {
    String trace = TwoTasks.write(dir.resolve("lossy.avro"), 3).toString();
    Ran ran = Ran.retstack("export", trace, "--format", "folded", "-o", "-");
    assertThat(ran.out()).contains("main;a 3\n").doesNotContain("os.elf;main 2");
  }
}
