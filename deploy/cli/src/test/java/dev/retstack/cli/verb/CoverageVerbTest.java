package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.cli.Ran;
import dev.retstack.cli.house.Repository;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.io.TempDir;

/** Coverage of two images, one of which ran one program, the other not at all. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class CoverageVerbTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final String IMAGE = "zoo-riscv64-mcount";
  private static final String OTHER = "zoo-s390x-mcount";

  private Path dir;
  private Path trace;

  @BeforeAll
  void record(@TempDir Path folder) {
    dir = folder;
    trace = dir.resolve("sort.avro");
    Ran.retstack("record", "--image", IMAGE, "-o", trace.toString(), "--", "sort");
  }

  @Test
  void countsFunctionsWithASiteAndThoseEntered() throws Exception {
    JsonNode image = JSON.readTree(ok("--format", "json").out()).get("images").get(0);
    Set<String> sites = new HashSet<>();
    JsonNode found =
        JSON.readTree(Ran.retstack("sites", IMAGE, "--format", "json").out()).get("sites");
    found.forEach(site -> sites.add(site.get("function").asText()));
    Map<String, Long> calls = new HashMap<>();
    for (JsonNode row : image.get("rows")) {
      calls.put(row.get("function").asText(), row.get("calls").asLong());
    }
    assertThat(calls.keySet()).isEqualTo(sites);
    Map<String, Long> entered = new HashMap<>(calls);
    entered.values().removeIf(count -> count == 0);
    assertThat(entered).isEqualTo(countsOfSort());
    assertThat(image.get("hit").asInt()).isEqualTo(entered.size());
    assertThat(image.get("functions").asInt()).isEqualTo(sites.size());
    assertThat(image.get("cores").asInt()).isEqualTo(1);
  }

  @Test
  void textHasARowPerImageAndOneForAll() {
    String text = ok(IMAGE, OTHER, "--missing").out();
    assertThat(text)
        .containsPattern("\\n +7 +\\d+ +\\d\\.\\d\\d % +1 +riscv64 +zoo-riscv64-mcount.elf")
        .containsPattern("\\n +0 +\\d+ +0\\.00 % +0 +s390x +zoo-s390x-mcount.elf")
        .containsPattern("\\n +7 +\\d+ +\\d\\.\\d\\d % +1 +all")
        .contains("# never entered in zoo-riscv64-mcount.elf")
        .containsPattern("0x[0-9a-f]+  fib\\n");
  }

  /** By geninfo(1): every record in its place, every name declared once, sums that are sums. */
  @Test
  void lcovIsAsItsManualSays() throws Exception {
    Path file = dir.resolve("cov.info");
    ok(IMAGE, OTHER, "--format", "lcov", "-o", file.toString());
    List<String> lines = Files.readAllLines(file);
    List<String> images = new ArrayList<>();
    int at = 0;
    while (at < lines.size()) {
      assertThat(lines.get(at++)).isEqualTo("TN:");
      assertThat(lines.get(at)).startsWith("SF:");
      images.add(lines.get(at++).substring(3));
      List<String> declared = new ArrayList<>();
      while (lines.get(at).startsWith("FN:")) {
        String[] fields = lines.get(at++).substring(3).split(",", -1);
        assertThat(fields).hasSize(2);
        assertThat(Integer.parseInt(fields[0])).isEqualTo(declared.size() + 1);
        declared.add(fields[1]);
      }
      assertThat(declared).doesNotHaveDuplicates().isNotEmpty();
      List<String> counted = new ArrayList<>();
      int hit = 0;
      while (lines.get(at).startsWith("FNDA:")) {
        String[] fields = lines.get(at++).substring(5).split(",", -1);
        hit += Long.parseLong(fields[0]) > 0 ? 1 : 0;
        counted.add(fields[1]);
      }
      assertThat(counted).isEqualTo(declared);
      assertThat(lines.get(at++)).isEqualTo("FNF:" + declared.size());
      assertThat(lines.get(at++)).isEqualTo("FNH:" + hit);
      for (int line = 1; line <= declared.size(); line++) {
        assertThat(lines.get(at++)).matches("DA:" + line + ",\\d+");
      }
      assertThat(lines.get(at++)).isEqualTo("LF:" + declared.size());
      assertThat(lines.get(at++)).isEqualTo("LH:" + hit);
      assertThat(lines.get(at++)).isEqualTo("end_of_record");
    }
    assertThat(images).containsExactly("zoo-riscv64-mcount.elf", "zoo-s390x-mcount.elf");
  }

  @Test
  void lcovItselfReadsTheSameNumbers() throws Exception {
    assumeTrue(onPath("lcov"), "skipped: lcov is not installed (Debian package lcov)");
    Path file = dir.resolve("summary.info");
    ok("--format", "lcov", "-o", file.toString());
    Process lcov =
        new ProcessBuilder("lcov", "--summary", file.toString()).redirectErrorStream(true).start();
    String said = new String(lcov.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(lcov.waitFor()).as(said).isZero();
    JsonNode json = JSON.readTree(ok("--format", "json").out());
    assertThat(said)
        .containsPattern(
            "functions\\.+: \\d+\\.\\d% \\(%d of %d functions\\)"
                .replaceFirst("%d", json.get("hit").asText())
                .replaceFirst("%d", json.get("functions").asText()));
  }

  @Test
  void genhtmlMakesPagesOfIt() throws Exception {
    assumeTrue(onPath("genhtml"), "skipped: genhtml is not installed (Debian package lcov)");
    Path file = dir.resolve("html.info");
    ok("--format", "lcov", "-o", file.toString());
    Process genhtml =
        new ProcessBuilder("genhtml", "--ignore-errors", "source", "-o", "html", file.toString())
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(genhtml.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(genhtml.waitFor()).as(said).isZero();
    assertThat(dir.resolve("html/index.html")).exists();
  }

  private static boolean onPath(String program) throws Exception {
    Process which = new ProcessBuilder("sh", "-c", "command -v " + program).start();
    return which.waitFor() == 0;
  }

  private static Map<String, Long> countsOfSort() throws Exception {
    Path counts = Repository.root().resolve("emulators/guest/programs/sort.counts");
    Map<String, Long> calls = new HashMap<>();
    for (String line : Files.readAllLines(counts)) {
      String[] fields = line.split(" ", -1);
      calls.put(fields[0], Long.valueOf(fields[1]));
    }
    return calls;
  }

  private Ran ok(String... arguments) {
    List<String> all = new ArrayList<>(List.of("coverage", trace.toString()));
    all.addAll(List.of(arguments));
    return Ran.well(all.toArray(String[]::new));
  }
}
