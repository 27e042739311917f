package dev.retstack.cli.split;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.http.HttpToken;
import dev.retstack.answers.http.LiveAccess;
import dev.retstack.cli.ChaosRow;
import dev.retstack.cli.Pacer;
import dev.retstack.cli.Ran;
import dev.retstack.cli.RetstackScript;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.service.LiveClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Predicate;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Three members, real processes, each in a network namespace of its own, over TLS; all reach the
 * broker. One is cut off from the other two: all go on with what they have, no partition moves, the
 * parts that cannot be asked are named, and the result is that of a replay. {@code
 * -Dretstack.split=long} cuts it off from the broker as well, afterwards: the others take over.
 */
class SplitTest {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final boolean LONG = "long".equals(System.getProperty("retstack.split"));
  private static final int MEMBERS = 3;
  private static final int PARTITIONS = 6;

  private static final Duration WAIT = Duration.ofMinutes(2);

  @TempDir private Path dir;

  private final List<Process> processes = new ArrayList<>();
  private Path script;
  private int broker;
  private Islands islands;
  private LiveAccess access;

  private void endAll() throws Exception {
    for (Process process : processes) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      process.destroyForcibly().waitFor();
    }
  }

  @Test
  @ChaosRow
  void bothSidesOfASplitGoOn() throws Exception {
    String refusal = Islands.refusal();
    Assumptions.assumeTrue(refusal.isEmpty(), refusal);
    script = RetstackScript.write(dir.resolve("bin"));
    try (Islands made = Islands.make(MEMBERS);
        EmbeddedBroker server = EmbeddedBroker.start(dir.resolve("broker"), 0)) {
      islands = made;
      broker = Integer.parseInt(server.bootstrap().substring(server.bootstrap().indexOf(':') + 1));
      secrets();
      try (Relay _ = Relay.fromFile(dir.resolve("kafka"), broker)) {
        splits(server.bootstrap());
      } finally {
        endAll();
      }
    }
  }

  private void splits(String bootstrap) throws Exception {
    Process way = relay(3);
    relay(1);
    relay(2);
    Process cutOff = null;
    for (int i = 1; i <= MEMBERS; i++) {
      cutOff = member(i);
    }
    Process fleet = fleet(bootstrap);
    Process pacer = start(Pacer.of(fleet));
    try (LiveClient one =
        new LiveClient(URI.create("https://" + islands.address(1) + ":7070"), access)) {
      JsonNode before = await(one, "three members", parts -> up(parts) == 3 && givers(parts, 3));
      String third = islands.address(3) + ":7070";
      islands.cut(3);
      JsonNode apart = await(one, "one cut off", parts -> up(parts) == 2);
      List<Integer> missing = missing(apart);
      assertThat(missing).isEqualTo(of(before, third)).isNotEmpty();
      for (JsonNode part : apart.path("parts")) {
        if (part.has("missing")) {
          assertThat(part.path("missing").asText()).contains(third);
        }
      }
      assertThat(one.get("report", Map.of("format", "text")))
          .contains("partition %d is missing".formatted(missing.getFirst()));
      assertThat(cutOff.isAlive()).isTrue();
      islands.heal(3);
      JsonNode after = await(one, "three members again", p -> up(p) == 3 && givers(p, 3));
      assertThat(epochs(after)).as("no partition moved").isEqualTo(epochs(before));
      if (LONG) {
        way.destroyForcibly().waitFor();
        islands.cut(3);
        await(one, "whole answers of two", found -> givers(found, 2));
        assertThat(cutOff.isAlive()).isTrue();
        relay(3);
        islands.heal(3);
        await(one, "three members once more", p -> up(p) == 3 && givers(p, 3));
      }
      Pacer.end(pacer, fleet);
      RetstackScript.signal("INT", fleet.pid());
      assertThat(fleet.waitFor(60, TimeUnit.SECONDS)).isTrue();
      compare(bootstrap, one);
    }
  }

  private static List<Integer> missing(JsonNode parts) {
    List<Integer> missing = new ArrayList<>();
    for (JsonNode part : parts.path("parts")) {
      if (part.has("missing")) {
        missing.add(part.path("partition").asInt());
      }
    }
    return missing;
  }

  /** Partitions that a member gave. */
  private static List<Integer> of(JsonNode parts, String member) {
    List<Integer> own = new ArrayList<>();
    for (JsonNode part : parts.path("parts")) {
      if (part.path("node").asText().equals(member)) {
        own.add(part.path("partition").asInt());
      }
    }
    return own;
  }

  private static List<String> epochs(JsonNode parts) {
    return parts.path("parts").findValuesAsText("epoch");
  }

  private static long up(JsonNode parts) {
    long up = 0;
    for (JsonNode node : parts.path("nodes")) {
      up += node.path("state").asText().equals("up") ? 1 : 0;
    }
    return up;
  }

  /** Whether all partitions are there, and so many members give them. */
  private static boolean givers(JsonNode parts, int count) {
    return parts.path("parts").size() == PARTITIONS
        && !parts.path("parts").findValuesAsText("node").contains("")
        && parts.path("parts").findValuesAsText("missing").isEmpty()
        && parts.path("parts").findValuesAsText("node").stream().distinct().count() == count;
  }

  private JsonNode await(LiveClient member, String what, Predicate<JsonNode> isSo)
      throws Exception {
    long start = System.nanoTime();
    JsonNode parts;
    do {
      parts = JSON.readTree(member.get("parts", Map.of()));
      if (isSo.test(parts)) {
        System.out.printf("%s: after %.1f s%n", what, (System.nanoTime() - start) / 1e9);
        return parts;
      }
      LockSupport.parkNanos(100_000_000); // the members have the processors meanwhile
    } while (System.nanoTime() - start < WAIT.toNanos());
    throw new AssertionError(what + ": " + parts + "\n" + logs());
  }

  /** What the members together say against a replay of all that was sent. */
  private void compare(String bootstrap, LiveClient member) throws Exception {
    String trace = dir.resolve("events.avro").toString();
    Ran.well("record", "--from-kafka", "-o", trace, "--bootstrap", bootstrap);
    Ran replayed = Ran.retstack("report", "--format", "json", trace);
    JsonNode expected = JSON.readTree(replayed.out());
    long start = System.nanoTime();
    JsonNode live;
    do {
      live = JSON.readTree(member.get("report", Map.of()));
      LockSupport.parkNanos(100_000_000);
    } while (live.path("records").asLong() != expected.path("records").asLong()
        && System.nanoTime() - start < WAIT.toNanos());
    assertThat(live.path("resultHash")).as(logs()).isEqualTo(expected.path("resultHash"));
    assertThat(live.path("lost").asLong(-1)).isZero();
    assertThat(live.path("parts"))
        .hasSize(PARTITIONS)
        .allSatisfy(part -> assertThat(part.has("missing")).isFalse());
  }

  private String logs() throws IOException {
    StringBuilder logs = new StringBuilder();
    for (int i = 1; i <= MEMBERS; i++) {
      Path log = dir.resolve("member-" + i + ".log");
      logs.append("member ").append(i).append(":\n");
      logs.append(Files.exists(log) ? Files.readString(log) : "");
    }
    return logs.toString();
  }

  /** A certificate for all addresses that the members share, and a token. */
  private void secrets() throws Exception {
    StringBuilder names = new StringBuilder("SAN=dns:localhost");
    for (int i = 1; i <= MEMBERS; i++) {
      names.append(",ip:").append(islands.address(i));
    }
    Files.writeString(dir.resolve("token"), "0123456789abcdef0123456789abcdef");
    Files.writeString(dir.resolve("password"), "password-of-a-test");
    String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
    run(
        keytool
            + " -J-XX:TieredStopAtLevel=1 -genkeypair -alias http -keyalg EC -groupname secp256r1 -validity 30 -dname"
            + " CN=retstack -ext "
            + names
            + " -storetype PKCS12 -keystore http.p12 -storepass:file password");
    run(
        keytool
            + " -J-XX:TieredStopAtLevel=1 -exportcert -alias http -rfc -keystore http.p12 -storepass:file password -file"
            + " ca.pem");
    access =
        new LiveAccess(
            Optional.of(HttpToken.read(dir.resolve("token"))),
            Optional.of(LiveAccess.trusting(dir.resolve("ca.pem"))));
  }

  private void run(String line) throws Exception {
    Process process =
        new ProcessBuilder(line.split(" ", -1))
            .directory(dir.toFile())
            .redirectErrorStream(true)
            .start();
    String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(process.waitFor()).as(said).isZero();
  }

  private Process relay(int island) throws Exception {
    ProcessBuilder java =
        new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx32m",
            "-XX:+UseSerialGC",
            "-XX:TieredStopAtLevel=1",
            "-cp",
            System.getProperty("java.class.path"),
            Relay.class.getName(),
            String.valueOf(broker),
            dir.resolve("kafka").toString());
    Process process = start(islands.in(island, java).redirectError(log("relay-" + island)));
    assertThat(process.inputReader(StandardCharsets.UTF_8).readLine()).isEqualTo("relays");
    return process;
  }

  private ProcessBuilder.Redirect log(String name) {
    return ProcessBuilder.Redirect.appendTo(dir.resolve(name + ".log").toFile());
  }

  private Process member(int number) throws Exception {
    String line =
        ("exec retstack pipeline --http-host %s --http-port 7070"
                + " --http-token-file token --http-tls-keystore http.p12 --http-tls-password-file"
                + " password --bootstrap 127.0.0.1:%d --partitions %d --kafka session.timeout.ms=6000")
            .formatted(islands.address(number), broker, PARTITIONS);
    ProcessBuilder builder = RetstackScript.line(script, dir, Map.of(), line);
    Process process = start(islands.in(number, builder).redirectError(log("member-" + number)));
    BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
    assertThat(out.readLine()).as(logs()).isNotNull();
    return process;
  }

  /** Cores that go on until they are stopped. */
  private Process fleet(String bootstrap) throws Exception {
    String line =
        ("exec retstack emulate --bootstrap %s --cores 2 --flush-ms 50 --image zoo-x86_64-fentry"
                + " --image zoo-riscv64-mcount --image zoo-aarch64-mcount -- dispatch 1000000000")
            .formatted(bootstrap);
    ProcessBuilder builder = RetstackScript.line(script, dir, Map.of(), line);
    Process process = start(builder.redirectOutput(log("fleet")));
    BufferedReader notes = process.errorReader(StandardCharsets.UTF_8);
    for (String note = notes.readLine(); note != null; note = notes.readLine()) {
      if (Pacer.hasSent(note)) {
        Thread.ofVirtual().start(() -> notes.lines().forEach(_ -> {}));
        return process;
      }
    }
    throw new AssertionError("the fleet ended");
  }

  private Process start(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    processes.add(process);
    return process;
  }
}
