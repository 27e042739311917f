package dev.retstack.cli.task;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One task, or each for itself, in every view of a trace. */
class TaskViewsTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String ID = Long.toUnsignedString(TwoTasks.TASK);

  @TempDir private Path dir;
  private String trace;

  @BeforeEach
  void write() throws IOException {
    trace = TwoTasks.write(dir.resolve("two.avro")).toString();
  }

  @ParameterizedTest
  @ValueSource(strings = {"18446603336221233216", "0xffff800000009040", "blocks+0x40"})
  void aTaskIsMeantByItsIdOrItsName(String task) throws IOException {
    assertThat(Ran.well("graph", trace, "--task", task).out())
        .contains("work();", "task blocks+0x40")
        .doesNotContain("main", "tick");
    JsonNode report = json("report", trace, "--task", task);
    assertThat(report.get("functions").findValuesAsText("name")).containsExactly("work");
    assertThat(report.get("onlyTask").asText()).isEqualTo(task);
    assertThat(report.get("resultHash")).isEqualTo(json("report", trace).get("resultHash"));
    assertThat(Ran.well("report", trace, "--task", task).out())
        .contains("# functions and edges of task " + task + " alone")
        .contains("blocks+0x40  over")
        .doesNotContain("task 0  ");
    assertThat(Ran.well("export", trace, "--format", "folded", "-o", "-", "--task", task).out())
        .isEqualTo("os.elf;work 10\n");
    assertThat(json("anomalies", trace, "--task", task)).as("a switch is none").isEmpty();
  }

  @Test
  void aTaskThatIsNotThereIsNamedWithThoseThatAre() {
    for (String verb : List.of("graph", "report", "anomalies")) {
      Ran none = Ran.retstack(verb, trace, "--task", "idle");
      assertThat(none.code()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(none.err()).contains("no task idle in this trace: it has blocks+0x40, task 0");
    }
  }

  /** A task is shown by the name that the program gave it, and its calls are the same. */
  @Test
  void aNameOfTheProgramIsShownWithTheId() throws IOException {
    String named = TwoTasks.named(dir.resolve("named.avro"), "worker").toString();
    String shown = "worker-0x" + Long.toHexString(TwoTasks.TASK);
    for (String task : List.of("worker", shown, Long.toUnsignedString(TwoTasks.TASK))) {
      assertThat(Ran.well("graph", named, "--task", task).out())
          .contains("work();", "task " + shown)
          .doesNotContain("main", "tick");
    }
    assertThat(json("graph", named).findValuesAsText("taskName")).containsExactly("task 0", shown);
    assertThat(Ran.well("graph", named, "--format", "csv").out()).contains("," + shown + ",");
    assertThat(Ran.well("report", named, "--by-task").out())
        .contains("# core c0, task " + shown + "\n");
    assertThat(Ran.well("export", named, "--format", "folded", "-o", "-", "--by-task").out())
        .contains(shown + ";os.elf;work 10");
    assertThat(Ran.well("graph", named, "--timeline").out())
        .as("from chunks")
        .contains(shown + " depth");
    Ran.well("index", named);
    assertThat(Ran.well("graph", named, "--timeline").out())
        .as("from tiles")
        .contains(shown + " depth");
    for (String same : List.of("functions", "edges")) {
      assertThat(json("report", named, "--edges").get(same))
          .isEqualTo(json("report", trace, "--edges").get(same));
    }
  }

  @Test
  void reportHasTotalsOfEachTask() throws IOException {
    assertThat(Ran.well("report", trace, "--by-task", "--format", "csv").out().lines())
        .containsExactly(
            "name,address,image,isa,program,images,isas,calls,total,wall,self,min,max,avg,source,core,task,taskName,interrupt",
            "main,0x1000,os.elf,x86_64,os.elf,1,1,1,40,70,27,40,40,40.0,,c0,0,task 0,",
            "a,0x1100,os.elf,x86_64,os.elf,1,1,1,3,3,3,3,3,3.0,,c0,0,task 0,",
            "work,0x1200,os.elf,x86_64,os.elf,1,1,1,10,10,10,10,10,10.0,,c0,"
                + ID
                + ",blocks+0x40,",
            "tick,0x1300,os.elf,x86_64,os.elf,1,1,1,3,3,3,3,3,3.0,,c0,,interrupts,any");
    assertThat(Ran.well("report", trace, "--by-task", "--edges", "--format", "csv").out().lines())
        .containsExactly(
            "caller,callee,image,program,callerImage,callerProgram,images,calls,total,core,task,taskName,interrupt",
            "main,a,os.elf,os.elf,,,1,1,3,c0,0,task 0,");
    assertThat(Ran.well("report", trace, "--by-task").out())
        .contains(
            "# core c0, task 0\n", "# core c0, task blocks+0x40\n", "# core c0, interrupts\n");
    JsonNode rows = json("report", trace, "--by-task").get("byTask");
    assertThat(rows).hasSize(3);
    assertThat(rows.get(1).get("task").asText()).isEqualTo("0x" + Long.toHexString(TwoTasks.TASK));
    assertThat(rows.get(2).get("interrupts").asBoolean()).isTrue();
    assertThat(
            json("report", trace, "--task", "interrupts").get("functions").findValuesAsText("name"))
        .containsExactly("tick");
    assertThat(Ran.well("report", trace, "--edges").out()).containsPattern("1 +3 +3  main +a ");
  }

  @Test
  void graphNamesTaskAndInterruptOfEachLine() throws IOException {
    JsonNode trees = json("graph", trace);
    assertThat(trees.findValuesAsText("taskName")).containsExactly("task 0", "blocks+0x40");
    assertThat(trees.get(1).get("task").asText()).isEqualTo("0x" + Long.toHexString(TwoTasks.TASK));
    List<String> lines = new ArrayList<>();
    Ran.well("graph", trace, "--format", "csv")
        .out()
        .lines()
        .forEach(line -> lines.add(ends(line)));
    assertThat(lines)
        .containsExactly(
            "function,taskName,interrupt",
            "main,task 0,",
            "blocks+0x40,task 0,",
            "interrupt 32,task 0,32",
            "tick,task 0,32",
            "a,task 0,",
            "work,blocks+0x40,");
  }

  private static String ends(String line) {
    String[] fields = line.split(",", -1);
    int last = fields.length - 1;
    return fields[3] + "," + fields[last - 1] + "," + fields[last];
  }

  @Test
  void stacksBeginWithTheTask() {
    assertThat(
            Ran.well("export", trace, "--format", "folded", "-o", "-", "--by-task").out().lines())
        .containsExactly(
            "blocks+0x40;os.elf;work 10",
            "interrupts;os.elf;interrupt 32 7",
            "interrupts;os.elf;interrupt 32;tick 3",
            "task 0;os.elf;main 27",
            "task 0;os.elf;main;a 3");
  }

  @Test
  void anomaliesComeTaskByTask() throws IOException {
    String lossy = TwoTasks.write(dir.resolve("lossy.avro"), 3).toString();
    JsonNode rows = json("anomalies", lossy, "--by-task");
    assertThat(rows.findValuesAsText("kind")).contains("LOST");
    assertThat(rows.findValuesAsText("taskName")).containsOnly("task 0");
    assertThat(Ran.well("anomalies", lossy, "--by-task").out()).contains("LOST on core c0");
    assertThat(json("anomalies", lossy, "--by-task", "--task", "blocks+0x40")).isEmpty();
  }

  @Test
  void aPipelineHasNoTotalsOfTasks() {
    Ran refused = Ran.retstack("report", "--live", "--by-task");
    assertThat(refused.code()).isEqualTo(ExitCode.USAGE);
    assertThat(refused.err()).contains("a pipeline adds up per image, not per task");
  }

  private static JsonNode json(String... args) throws IOException {
    List<String> line = new ArrayList<>(List.of(args));
    line.addAll(List.of("--format", "json"));
    return JSON.readTree(Ran.well(line.toArray(String[]::new)).out());
  }
}
