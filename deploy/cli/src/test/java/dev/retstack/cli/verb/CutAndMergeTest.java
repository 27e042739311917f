package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.testing.Seeds;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Traces made of parts of others, and of several. */
class CutAndMergeTest {
  private static final long END = 8_000_000;
  private static final int WINDOWS = Integer.getInteger("retstack.windows", 3);
  private static final int MUTANTS = Integer.getInteger("retstack.mutants", 16);

  @TempDir private static Path dir;
  private static Path trace;

  @BeforeAll
  static void record() {
    trace = record("trace", "run");
  }

  private static Path record(String name, String session, String... program) {
    Path file = dir.resolve(name + ".avro");
    List<String> command = new ArrayList<>(List.of("record", "-o", file.toString()));
    command.addAll(List.of("--cores", "2", "--image", "zoo-x86_64-fentry", "--session", session));
    command.add("--");
    command.addAll(program.length == 0 ? List.of("w200", "12000") : List.of(program));
    Ran.well(command.toArray(String[]::new));
    return file;
  }

  private static String hash(Path file) {
    String report = Ran.well("report", file.toString(), "--format", "json").out();
    return report.replaceAll("(?s).*\"resultHash\" *: *\"([^\"]+)\".*", "$1");
  }

  @Test
  void aCutShowsTheSameOfItsWindow() throws IOException {
    SplittableRandom random = new SplittableRandom(Seeds.fresh());
    for (int i = 0; i < WINDOWS; i++) {
      long from = random.nextLong(END);
      long to = from + random.nextLong(1L << random.nextInt(1, 20));
      List<String> window = new ArrayList<>();
      window.addAll(List.of("--from", String.valueOf(from), "--to", String.valueOf(to)));
      if (i % 2 == 0) {
        window.addAll(List.of("--core", "zoo-x86_64-fentry-" + random.nextInt(2)));
      }
      Path cut = dir.resolve("cut-" + i + ".avro");
      Ran ran = Ran.well(with(window, "cut", trace.toString(), "-o", cut.toString()));
      assertThat(ran.err()).contains("core", ", 1 image, ", "bytes in " + cut);
      assertThat(Files.size(cut)).isLessThan(Files.size(trace));
      for (String verb : List.of("report", "graph", "anomalies")) {
        String expected = Ran.well(with(window, verb, trace.toString())).out();
        assertThat(Ran.well(with(window, verb, cut.toString())).out())
            .as("%s %s", verb, window)
            .isEqualTo(expected);
      }
    }
  }

  private static String[] with(List<String> window, String... command) {
    List<String> all = new ArrayList<>(List.of(command));
    all.addAll(window);
    return all.toArray(String[]::new);
  }

  @Test
  void partsThatOverlapMergeToTheWhole() {
    List<String> parts = new ArrayList<>();
    for (int i = 3; i >= 0; i--) { // in the wrong order
      Path part = dir.resolve("part-" + i + ".avro");
      String from = String.valueOf(i * 2_000_000L);
      String to = i == 3 ? String.valueOf(Long.MAX_VALUE) : String.valueOf((i + 1) * 2_000_000L);
      Ran.well("cut", trace.toString(), "-o", part.toString(), "--from", from, "--to", to);
      parts.add(part.toString());
    }
    Path merged = dir.resolve("merged.avro");
    Ran ran = Ran.well(with(parts, "merge", "-o", merged.toString()));
    assertThat(ran.err()).contains("2 cores, 1 image, ", "chunks came again");
    assertThat(hash(merged)).isEqualTo(hash(trace));
    parts.remove(1);
    Path hole = dir.resolve("hole.avro");
    Ran.well(with(parts, "merge", "-o", hole.toString()));
    assertThat(Ran.well("anomalies", hole.toString()).out()).contains("SEQUENCE_GAP");
    String all = Ran.well("report", trace.toString(), "--from", "3600000", "--to", "6800000").out();
    assertThat(Ran.well("report", hole.toString(), "--from", "3600000", "--to", "6800000").out())
        .isNotEqualTo(all)
        .contains("lost");
    String behind =
        Ran.well("report", trace.toString(), "--from", "7600000", "--to", "7610000").out();
    assertThat(Ran.well("report", hole.toString(), "--from", "7600000", "--to", "7610000").out())
        .isEqualTo(behind);
  }

  @Test
  void tracesOfSeveralSessionsMerge() {
    Path other = record("other", "other", "fib", "10");
    Path both = dir.resolve("both.avro");
    assertThat(Ran.well("merge", trace.toString(), other.toString(), "-o", both.toString()).err())
        .contains("4 cores, 1 image, ");
    assertThat(Ran.well("cores", both.toString()).out()).contains("run", "other");
  }

  @Test
  void differentChunksOfOneNumberAreRefusedWithBothFiles() throws IOException {
    Path other = record("same", "run", "fib", "10");
    Path both = Files.writeString(dir.resolve("refused.avro"), "what was there");
    Ran ran = Ran.retstack("merge", trace.toString(), other.toString(), "-o", both.toString());
    assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(ran.err()).contains("chunk 0", trace.toString(), other.toString(), "session run");
    assertThat(both).hasContent("what was there");
    assertThat(dir.resolve("refused.avro.part")).doesNotExist();
  }

  @Test
  void whatIsReadIsNotReplaced() throws IOException {
    byte[] before = Files.readAllBytes(trace);
    for (String[] command :
        new String[][] {
          {"cut", trace.toString(), "--from", "5", "-o", trace.toString()},
          {"merge", trace.toString(), "-o", trace.toString()}
        }) {
      Ran ran = Ran.retstack(command);
      assertThat(ran.code()).isEqualTo(ExitCode.BAD_INPUT);
      assertThat(ran.err()).contains("would be replaced");
    }
    assertThat(trace).hasBinaryContent(before);
  }

  @Test
  void whatIsWrongIsSaid() throws IOException {
    Path out = dir.resolve("none.avro");
    Ran none = Ran.retstack("cut", trace.toString(), "--core", "other", "-o", out.toString());
    assertThat(none.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(none.err()).contains("no such core", "zoo-x86_64-fentry-0, zoo-x86_64-fentry-1");
    Ran nothing = Ran.retstack("cut", trace.toString(), "-o", out.toString());
    assertThat(nothing.code()).isEqualTo(ExitCode.USAGE);
    Path missing = dir.resolve("missing.avro");
    Ran gone = Ran.retstack("merge", trace.toString(), missing.toString(), "-o", out.toString());
    assertThat(gone.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(gone.err()).contains("no such file: " + missing);
    Path text = Files.writeString(dir.resolve("text.avro"), "no trace".repeat(100));
    Ran foreign = Ran.retstack("merge", trace.toString(), text.toString(), "-o", out.toString());
    assertThat(foreign.code()).isEqualTo(ExitCode.BAD_INPUT);
    assertThat(foreign.err()).contains(text.toString());
    assertThat(out).doesNotExist();
    byte[] bytes = Files.readAllBytes(trace);
    Path cut = Files.write(dir.resolve("broken.avro"), Arrays.copyOf(bytes, bytes.length - 40));
    assertThat(Ran.well("merge", cut.toString(), "-o", out.toString()).err()).contains("cut off");
    assertThat(hash(out)).isEqualTo(hash(trace));
  }

  @Test
  void changedFilesAreRefusedOrGiveTheSame() throws IOException {
    byte[] bytes = Files.readAllBytes(trace);
    Path changed = dir.resolve("changed.avro");
    Path out = dir.resolve("of-changed.avro");
    String whole = hash(trace);
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    int refused = 0;
    for (int i = 0; i < MUTANTS; i++) {
      byte[] mutant = bytes.clone();
      // half of them in the index and the seal, which are the last bytes
      int at = random.nextInt(i % 2 == 0 ? 0 : bytes.length - 400, bytes.length);
      mutant[at] ^= (byte) (1 << random.nextInt(8));
      Files.write(changed, mutant);
      Files.deleteIfExists(out);
      Ran ran = Ran.retstack("merge", changed.toString(), "-o", out.toString());
      if (ran.code() == ExitCode.OK) {
        assertThat(hash(out)).as("byte %d, seed %d", at, seed).isEqualTo(whole);
      } else {
        refused++;
        assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.BAD_INPUT);
        assertThat(out).doesNotExist();
      }
    }
    assertThat(refused).isPositive();
  }
}
