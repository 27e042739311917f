package dev.retstack.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;

/** {@code deploy/benchmarks/compare.sh}: which of two commits is slower. */
class CompareTest {
  private static final Path ROOT = Path.of(System.getProperty("retstack.root")).toAbsolutePath();
  private static final Path SCRIPT = ROOT.resolve("deploy/benchmarks/compare.sh");
  private static final long MINUTES = 100;

  @TempDir private Path folder;

  private record Result(int exitCode, String text) {}

  @Test
  void aLossIsDistinguishedFromNoise() throws Exception {
    StringBuilder figures = new StringBuilder();
    for (int pair = 1; pair <= 8; pair++) {
      figure(figures, pair, "lost", 100 + pair, 110 + pair);
      figure(figures, pair, "won", 1.5, 1.25);
      figure(figures, pair, "same", 0.5, 0.5);
      figure(figures, pair, "noise", 10, pair < 3 ? 9 : 11);
      figures.append(pair).append("\told\tgone\t1\n");
    }
    Path file = Files.writeString(folder.resolve("figures"), figures);

    Result table = run(SCRIPT, "--table", file.toString());
    assertThat(table.text().lines().map(line -> line.replaceAll(" +", " ")).skip(1))
        .containsExactly(
            "lost 104.500 114.500 1.096 8 of 8 slower",
            "won 1.500 1.250 0.833 0 of 8 faster",
            "same 0.500 0.500 1.000 0 of 8 noise",
            "noise 10.000 11.000 1.100 6 of 8 noise",
            "gone in one of the commits only");
    assertThat(table.exitCode()).isZero();
  }

  private static void figure(StringBuilder to, int pair, String name, double old, double now) {
    to.append("%d\told\t%s\t%s\n%d\tnew\t%s\t%s\n".formatted(pair, name, old, pair, name, now));
  }

  @Test
  void wrongArgumentsAreNamedWithTheCure() throws Exception {
    assertThat(run(SCRIPT, "HEAD"))
        .isEqualTo(
            new Result(
                2,
                "retstack: two commits are needed: deploy/benchmarks/compare.sh OLD NEW"
                    + " [STAGE...]; see --help\n"));
    assertThat(run(SCRIPT, "HEAD", "HEAD", "speed"))
        .isEqualTo(
            new Result(
                2,
                "retstack: no stage \"speed\": there are capture path live replay report"
                    + " record\n"));
    assertThat(run(SCRIPT, "--pairs", "none", "HEAD", "HEAD"))
        .isEqualTo(new Result(2, "retstack: --pairs: a number of 1 and more, not \"none\"\n"));
    assertThat(run(SCRIPT, "--help").text()).contains("Exit codes:").contains("Example:");
  }

  @Test
  void aCheckoutWithoutHistoryIsNamedEvenWithASpaceInItsPath() throws Exception {
    Path checkout = folder.resolve("a checkout").resolve("deploy/benchmarks");
    Files.createDirectories(checkout);
    Path script = checkout.resolve("compare.sh");
    Files.copy(SCRIPT, script);

    Result result = run(script, "HEAD", "HEAD", "capture");
    assertThat(result.exitCode()).isEqualTo(2);
    assertThat(result.text()).startsWith("retstack: no commit \"HEAD\" in ").contains("a checkout");
  }

  /** Says and never fails: a loss may have been chosen. */
  @Test
  @EnabledIfSystemProperty(named = "retstack.compare.pairs", matches = "\\d+")
  void headIsComparedWithTheBaseline() throws Exception {
    String baseline =
        Files.readAllLines(ROOT.resolve("deploy/benchmarks/baseline")).stream()
            .filter(line -> !line.startsWith("#"))
            .findFirst()
            .orElseThrow();
    Path here = Path.of("/bin/sh");
    for (String commit : List.of("HEAD", baseline)) {
      String look = "git -C \"$0\" cat-file -e \"$1^{commit}\"";
      boolean isHere = run(here, "-c", look, ROOT.toString(), commit).exitCode() == 0;
      String reason = "compare: skipped: no commit " + commit + " in " + ROOT;
      if (!isHere) {
        System.out.println("campaign: " + reason);
      }
      assumeTrue(isHere, reason);
    }
    Result result =
        run(SCRIPT, "--pairs", System.getProperty("retstack.compare.pairs"), baseline, "HEAD");
    result.text().lines().forEach(line -> System.out.println("campaign: " + line));
    assertThat(result.exitCode()).isIn(0, 4);
  }

  private Result run(Path command, String... arguments) throws IOException, InterruptedException {
    List<String> words = new ArrayList<>(List.of(command.toString()));
    words.addAll(List.of(arguments));
    ProcessBuilder builder = new ProcessBuilder(words).redirectErrorStream(true);
    Map<String, String> environment = builder.environment();
    environment.remove("RETSTACK_JAVA_OPTS");
    environment.put("GIT_CEILING_DIRECTORIES", folder.toString());
    Process process = builder.start();
    String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor(MINUTES, TimeUnit.MINUTES)).isTrue();
    return new Result(process.exitValue(), text);
  }
}
