package dev.retstack.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.RetstackScript;
import dev.retstack.cli.broker.BrokerProcess;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** A fleet whose broker goes away says so once, and once that it is back. */
@Timeout(240)
class SilenceTest {
  private static final int PATIENCE_SECONDS = 120;

  @Test
  void aFleetSaysThatItWaitsForTheBrokerAndThatItContinues(@TempDir Path dir) throws Exception {
    BrokerProcess first = BrokerProcess.start(dir.resolve("broker"), 0);
    String address = first.bootstrap();
    Process fleet =
        RetstackScript.line(
                RetstackScript.write(dir.resolve("bin")),
                dir,
                Map.of(),
                "exec retstack emulate --bootstrap %s --image zoo-riscv64-mcount -- w200 100000000"
                    .formatted(address))
            .redirectErrorStream(true)
            .start();
    CompletableFuture.delayedExecutor(PATIENCE_SECONDS, TimeUnit.SECONDS)
        .execute(fleet::destroyForcibly); // then its output ends
    List<String> said = new ArrayList<>();
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(fleet.getInputStream(), StandardCharsets.UTF_8))) {
      await(out, said, ".* in [1-9][0-9,]* chunks?");
      ProcessHandle child = ProcessHandle.of(first.pid()).orElseThrow();
      child.destroyForcibly();
      child.onExit().get(1, TimeUnit.MINUTES);
      String waits = "retstack: kafka at %s has not answered for \\d+ s: .*".formatted(address);
      await(out, said, waits);
      int port = Integer.parseInt(address.replaceFirst(".*:", ""));
      try (BrokerProcess _ = BrokerProcess.start(dir.resolve("broker"), port)) {
        String back =
            "retstack: kafka at %s answers again after \\d+ s: the fleet continues"
                .formatted(address);
        await(out, said, back);
        fleet.toHandle().destroy(); // its output stays open
        out.lines().forEach(said::add);
        // a busy machine may be silent once more; each silence is told once
        List<Boolean> silences =
            said.stream()
                .filter(line -> line.matches(waits) || line.matches(back))
                .map(line -> line.matches(waits))
                .toList();
        for (int i = 0; i < silences.size(); i++) {
          assertThat(silences.get(i)).as("%s", said).isEqualTo(i % 2 == 0);
        }
      }
    } finally {
      fleet.destroyForcibly().waitFor();
      first.close();
    }
  }

  private static void await(BufferedReader out, List<String> said, String like) throws Exception {
    String line = "";
    while (!line.matches(like)) {
      line = out.readLine();
      assertThat(line).as("after %s", said).isNotNull();
      said.add(line);
    }
  }
}
