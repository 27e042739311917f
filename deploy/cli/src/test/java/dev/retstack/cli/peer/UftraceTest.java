package dev.retstack.cli.peer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The same objects, compiled once with {@code -pg}: linked dynamically and run natively under
 * uftrace, linked statically and emulated under retstack. Both must see the same functions with the
 * same number of calls.
 */
class UftraceTest {
  private static final ObjectMapper JSON = new ObjectMapper();

  /** A row of {@code uftrace report}: two times with their units, calls, function. */
  private static final Pattern ROW =
      Pattern.compile("\\s*[\\d.]+ \\S+\\s+[\\d.]+ \\S+\\s+(\\d+)\\s+(\\S+)\\s*");

  @TempDir private Path dir;

  @BeforeAll
  static void theseAreHere() {
    assumeTrue(onPath("uftrace"), "skipped: uftrace is not installed (Debian package uftrace)");
    assumeTrue(onPath("x86_64-linux-gnu-gcc"), "skipped: no x86_64-linux-gnu-gcc");
  }

  @Test
  void argumentsHeapAndSorting() throws Exception {
    compare("hello", "a", "bcd", "zz", "mnop");
  }

  @Test
  void deepCallsOnRealInput() throws Exception {
    compare("recover", "96", "/", "4", "+", "1", "x", "3", "/", "5");
  }

  private void compare(String program, String... arguments) throws Exception {
    Path source = Repository.root().resolve("emulators/guest/userland").resolve(program + ".c");
    run(
        "x86_64-linux-gnu-gcc",
        "-O2",
        "-pg",
        "-fno-pie",
        "-fno-optimize-sibling-calls",
        "-fno-omit-frame-pointer",
        "-fcf-protection=none",
        "-c",
        source.toString(),
        "-o",
        "p.o");
    run("x86_64-linux-gnu-gcc", "-no-pie", "-pg", "p.o", "-o", "dynamic");
    run("x86_64-linux-gnu-gcc", "-no-pie", "-static", "p.o", "-o", "static");

    List<String> uftrace = new ArrayList<>(List.of("uftrace", "record", "--no-libcall"));
    uftrace.addAll(List.of("--data", "uf", "./dynamic"));
    uftrace.addAll(List.of(arguments));
    run(uftrace.toArray(String[]::new));
    TreeMap<String, Long> theirs = new TreeMap<>();
    for (String line : run("uftrace", "report", "--data", "uf").lines().toList()) {
      Matcher row = ROW.matcher(line);
      if (row.matches()) {
        theirs.put(row.group(2), Long.valueOf(row.group(1)));
      }
    }

    List<String> emulated = new ArrayList<>(List.of("record", "--image"));
    emulated.add(dir.resolve("static").toString());
    emulated.addAll(List.of("-o", dir.resolve("t.avro").toString(), "--"));
    emulated.addAll(List.of(arguments));
    Ran.well(emulated.toArray(String[]::new));
    Ran report = Ran.retstack("report", dir.resolve("t.avro").toString(), "--format", "json");
    TreeMap<String, Long> ours = new TreeMap<>();
    for (JsonNode function : JSON.readTree(report.out()).get("functions")) {
      ours.put(function.get("name").asText(), function.get("calls").asLong());
    }

    assertThat(theirs).as("uftrace saw something").isNotEmpty();
    assertThat(ours).isEqualTo(theirs);
  }

  /** Runs in the test's folder; the exit code is the program's own and not looked at. */
  private String run(String... command) throws IOException, InterruptedException {
    Path out = dir.resolve("out");
    Process process =
        new ProcessBuilder(command)
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .redirectOutput(out.toFile())
            .start();
    process.waitFor();
    return Files.readString(out, StandardCharsets.UTF_8);
  }

  private static boolean onPath(String program) {
    return Pattern.compile(":")
        .splitAsStream(System.getenv("PATH"))
        .anyMatch(folder -> Files.isExecutable(Path.of(folder, program)));
  }
}
