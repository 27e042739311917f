package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tasks that the image names, from the command line and from a fleet file to tree and report. */
class DeclaredTasksVerbTest {
  private static final String IMAGE = "rtos-x86_64-fentry";

  @TempDir Path dir;

  private static List<String> record(Path trace, String... more) {
    List<String> words = new ArrayList<>(List.of("record", "--image", IMAGE));
    words.addAll(List.of("--timer", "900:rtos_interrupt", "--timer", "7100:rtos_interrupt"));
    words.addAll(List.of(more));
    words.addAll(List.of("-o", trace.toString(), "--", "rtos"));
    return words;
  }

  private static Ran ok(List<String> words) {
    return Ran.well(words.toArray(String[]::new));
  }

  @Test
  void eachTaskHasTheNameOfItsControlBlock() {
    Path trace = dir.resolve("rtos.avro");
    ok(record(trace, "--task-variable", "rtos_current", "--interrupt-handlers", "rtos_interrupt"));
    for (String format : List.of("text", "json")) {
      String report = ok(List.of("report", trace.toString(), "--format", format)).out();
      assertThat(report)
          .contains("task_first", "task_blinker", "task_jumper", "task_worker")
          .doesNotContain("task 1");
    }
    assertThat(ok(List.of("graph", trace.toString())).out()).contains("task_blinker");
  }

  @Test
  void onlyOneOfThemByItsName() {
    Path trace = dir.resolve("one.avro");
    ok(record(trace, "--task-variable", "rtos_current", "--task", "task_blinker"));
    String report = ok(List.of("report", trace.toString())).out();
    assertThat(report).contains("blinker_run", "task_fib").doesNotContain("jumper_run");
  }

  @Test
  void theSameFromAFleetFile() throws IOException {
    Path fleet = dir.resolve("fleet.conf");
    Files.writeString(
        fleet,
        """
        groups {
          kernel {
            image = %s, arg = [rtos], timer = ["900:rtos_interrupt", "7100:rtos_interrupt"]
            task-variable = rtos_current, interrupt-handlers = [rtos_interrupt]
          }
        }
        """
            .formatted(IMAGE));
    Path trace = dir.resolve("fleet.avro");
    ok(List.of("record", "--fleet", fleet.toString(), "-o", trace.toString()));
    assertThat(ok(List.of("report", trace.toString())).out()).contains("task_blinker");
  }

  @Test
  void aVariableThatIsNotThereIsRefusedWithNearNames() {
    Path trace = dir.resolve("none.avro");
    List<String> words = record(trace, "--task-variable", "rtos_curent");
    Ran ran = Ran.retstack(words.toArray(String[]::new));
    assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err()).contains("'rtos_curent'", "did you mean rtos_current?");
  }
}
