package dev.retstack.cli.verb;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.fleet.publish.RotatingChunkSink;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.schema.file.TraceFileReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A recording in several files. */
class RotateTest {
  private static final String[] PROGRAM = {
    "--cores", "2", "--image", "zoo-x86_64-fentry", "--session", "run", "--", "w200", "12000"
  };

  @TempDir private Path dir;

  private static Ran run(String verb, Path output, List<String> options, String... rest) {
    List<String> command = new ArrayList<>(List.of(verb, "-o", output.toString()));
    command.addAll(options);
    command.addAll(List.of(rest));
    return Ran.well(command.toArray(String[]::new));
  }

  private static String report(Path file, String... more) {
    List<String> command = new ArrayList<>(List.of("report", file.toString()));
    command.addAll(List.of(more));
    Ran ran = Ran.well(command.toArray(String[]::new));
    assertThat(ran.err()).doesNotContain("cut off");
    return ran.out();
  }

  private List<String> pieces(String name) throws IOException {
    try (var files = Files.list(dir)) {
      return files
          .filter(file -> file.getFileName().toString().matches(name + "\\.\\d{4}\\.avro"))
          .map(Path::toString)
          .sorted()
          .toList();
    }
  }

  @Test
  void filesMergeToWhatOneFileWouldBe() throws IOException {
    Path one = dir.resolve("one.avro");
    run("record", one, List.of(), PROGRAM);
    Files.writeString(dir.resolve("t.9999.avro"), "of an earlier recording, far away");
    Ran ran = run("record", dir.resolve("t.avro"), List.of("--rotate", "20K"), PROGRAM);
    List<String> pieces = new ArrayList<>(pieces("t"));
    pieces.removeLast();
    assertThat(pieces).hasSizeGreaterThan(3);
    assertThat(ran.err()).contains(pieces.size() + " files, " + pieces.getFirst());
    assertThat(dir.resolve("t.avro")).doesNotExist();
    for (String piece : pieces) {
      assertThat(Files.size(Path.of(piece))).isLessThan(100_000);
      assertThat(report(Path.of(piece))).contains("run_w200");
    }
    Path merged = dir.resolve("merged.avro");
    run("merge", merged, pieces);
    assertThat(report(merged)).isEqualTo(report(one));
    String[] window = {"--from", "3000000", "--to", "5000000"};
    assertThat(report(merged, window)).isEqualTo(report(one, window));
  }

  @Test
  void aFileEndsByItsTime() throws Exception {
    Path one = dir.resolve("one.avro");
    run("record", one, List.of(), PROGRAM);
    long[] now = {0};
    int chunks = 0;
    try (TraceFileReader reader = TraceFileReader.open(one);
        TraceClaim first = TraceClaim.of(dir.resolve("p.0001.avro"));
        RotatingChunkSink sink =
            RotatingChunkSink.open(
                first,
                number -> dir.resolve("p.%04d.avro".formatted(number)),
                new RotatingChunkSink.Limit(Long.MAX_VALUE, 100),
                () -> now[0])) {
      for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
        if (entry.getImage() != null) {
          sink.image(entry.getImage());
        } else {
          sink.chunk(entry.getChunk());
          now[0] += 30;
          chunks++;
        }
      }
      assertThat(sink.files()).isEqualTo((chunks + 3) / 4);
    }
    Path merged = dir.resolve("merged.avro");
    run("merge", merged, pieces("p"));
    assertThat(report(merged)).isEqualTo(report(one));
  }

  @Test
  void whatIsNoLimitIsRefused() {
    for (String wrong : List.of("0", "0s", "fast", "10x")) {
      Ran ran =
          Ran.retstack("record", "--rotate", wrong, "-o", "t.avro", "--image", "zoo-x86_64-fentry");
      assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
      assertThat(ran.err()).contains(wrong);
    }
  }
}
