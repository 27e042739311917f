package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.retstack.answers.replay.PyramidPass;
import dev.retstack.cli.broker.EmbeddedBroker;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.TraceEntry;
import dev.retstack.schema.file.TraceClaim;
import dev.retstack.schema.file.TraceFileReader;
import dev.retstack.schema.file.TraceFileWriter;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is left when a command is stopped from outside: no process, and every record so far. */
@Isolated("it measures how soon processes end: a cluster beside it would be measured too")
class ProcessEndsTest {
  /** It took 20 s before; 40 ms to 2 s now, by how busy the machine is. */
  private static final long ENDS_MS = 10_000;

  @TempDir private Path dir;

  @Test
  void interruptOfADemoLeavesNoProcess() throws Exception {
    Process demo = startDemo();
    try (BufferedReader notes = reader(demo)) {
      awaitLine(notes, "stay up; Ctrl-C ends them. In a browser: http://");
      List<ProcessHandle> children = demo.descendants().toList();
      assertThat(children).as("the broker is a child").isNotEmpty();

      RetstackScript.signal("INT", demo.pid());
      assertThat(demo.waitFor(90, TimeUnit.SECONDS)).as("the demo ends").isTrue();
      for (ProcessHandle child : children) {
        child.onExit().get(90, TimeUnit.SECONDS);
        assertThat(child.isAlive()).isFalse();
      }
    } finally {
      end(demo);
    }
  }

  @Test
  @ChaosRow
  void killOfADemoTakesTheBrokerAlong() throws Exception {
    Process demo = startDemo();
    try (BufferedReader notes = reader(demo)) {
      awaitLine(notes, "kafka broker at");
      List<ProcessHandle> children = demo.descendants().toList();
      assertThat(children).isNotEmpty();
      demo.destroyForcibly().waitFor();
      for (ProcessHandle child : children) {
        child.onExit().get(60, TimeUnit.SECONDS);
      }
    } finally {
      end(demo);
    }
  }

  @Test
  void killOfARecorderLeavesAReadableTrace() throws Exception {
    Process recorder = start("exec retstack record --image zoo-riscv64-mcount -o t.avro -- fib 40");
    try (BufferedReader notes = reader(recorder)) {
      awaitRecords(notes);
      recorder.destroyForcibly().waitFor();
    } finally {
      end(recorder);
    }
    Ran report = Ran.well("report", dir.resolve("t.avro").toString());
    assertThat(report.err()).contains("cut off");
    assertThat(report.out()).contains("fib").contains("99.99 %");
  }

  /** Linux gives up a lock where its process closes any channel of the file. */
  @Test
  void aRecordingIntoAFileThatGetsItsPyramidIsRefused() throws Exception {
    Path file = dir.resolve("held.avro");
    Path other = dir.resolve("other.avro");
    Ran.well("record", "--image", "zoo-x86_64-fentry", "-o", other.toString());
    try (TraceClaim claim = TraceClaim.of(file)) {
      try (TraceFileReader reader = TraceFileReader.open(other);
          TraceFileWriter writer = TraceFileWriter.open(claim)) {
        for (TraceEntry entry = reader.next(); entry != null; entry = reader.next()) {
          if (entry.getImage() != null) {
            writer.write(entry.getImage());
          } else {
            writer.write(entry.getChunk());
          }
        }
      }
      var _ = PyramidPass.write(claim, (chunks, _) -> assertRefused(chunks));
      assertRefused(1);
    }
    Ran.well("record", "--image", "zoo-x86_64-fentry", "-o", file.toString());
  }

  private void assertRefused(long chunks) {
    if (chunks > 1) {
      return; // once is enough
    }
    try {
      Process second = start("exec retstack record --image zoo-x86_64-fentry -o held.avro");
      String said = new String(second.getErrorStream().readAllBytes(), StandardCharsets.UTF_8);
      assertThat(second.waitFor()).as(said).isEqualTo(ExitCode.ENVIRONMENT);
      assertThat(said).contains("another recording is being written there");
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aFileThatIsGoneIsNoSuccess() throws Exception {
    Path file = dir.resolve("gone.avro");
    Thread remover = Thread.ofPlatform().start(() -> removeOnceBegun(file));
    Ran ran =
        Ran.retstack("record", "--image", "zoo-x86_64-mcount", "-o", file.toString(), "--", "sort");
    remover.join();
    assertThat(ran.code()).as(ran.err()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(ran.err())
        .contains("gone.avro: it was removed or replaced while it was written")
        .doesNotContain("next:");
  }

  private static void removeOnceBegun(Path file) {
    while (true) {
      try {
        if (Files.size(file) > 0) {
          Files.delete(file);
          return;
        }
      } catch (IOException e) {
        // it is not there yet
      }
      LockSupport.parkNanos(1_000_000);
    }
  }

  @Test
  void interruptOfARecorderSealsTheTrace() throws Exception {
    Process recorder = start("exec retstack record --image zoo-x86_64-mcount -o t.avro -- fib 40");
    try (BufferedReader notes = reader(recorder)) {
      awaitRecords(notes);
      RetstackScript.signal("INT", recorder.pid());
      assertThat(recorder.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      end(recorder);
    }
    Ran report = Ran.well("report", dir.resolve("t.avro").toString());
    assertThat(report.err()).doesNotContain("cut off");
    assertThat(report.out()).contains("fib");
  }

  @Test
  @ChaosRow
  void killOfARecorderTakesItsIsolatedCoresAlong() throws Exception {
    Process recorder =
        start("exec retstack record --isolate --image zoo-riscv64-mcount -o t.avro -- fib 40");
    try (BufferedReader notes = reader(recorder)) {
      awaitRecords(notes);
      List<ProcessHandle> children = recorder.descendants().toList();
      assertThat(children).isNotEmpty();
      recorder.destroyForcibly().waitFor();
      for (ProcessHandle child : children) {
        child.onExit().get(60, TimeUnit.SECONDS);
      }
    } finally {
      end(recorder);
    }
  }

  @Test
  @ChaosRow
  void deathOfAnEmulatorIsAFaultedCoreAndARestartInTheReport() throws Exception {
    Process recorder =
        start(
            "exec retstack record --isolate --isolate-restarts 1 --image zoo-riscv64-mcount"
                + " -o t.avro -- fib 40");
    try (BufferedReader notes = reader(recorder)) {
      awaitRecords(notes);
      RetstackScript.signal("SEGV", recorder.descendants().findFirst().orElseThrow().pid());
      awaitLine(notes, "died: signal 11 (SIGSEGV)");
      awaitRecords(notes);
      RetstackScript.signal("INT", recorder.pid());
      assertThat(recorder.waitFor(60, TimeUnit.SECONDS)).isTrue();
    } finally {
      end(recorder);
    }
    Ran report = Ran.well("report", dir.resolve("t.avro").toString(), "--format", "json");
    assertThat(report.err()).doesNotContain("cut off");
    assertThat(new ObjectMapper().readTree(report.out()).get("stats").toString())
        .contains("FAULTED_CORES")
        .doesNotContain("GAP", "LOST", "CONTRADICTORY", "MISPLACED");
    Map<String, CoreEnd> ends = new TreeMap<>();
    try (TraceFileReader trace = TraceFileReader.open(dir.resolve("t.avro"))) {
      for (TraceEntry entry = trace.next(); entry != null; entry = trace.next()) {
        if (entry.getChunk() != null) {
          ends.put(entry.getChunk().getCore(), entry.getChunk().getEnd());
        }
      }
    }
    assertThat(ends)
        .isEqualTo(
            Map.of(
                "zoo-riscv64-mcount-0", CoreEnd.FAULTED,
                "zoo-riscv64-mcount-0.restart-1", CoreEnd.STOPPED));
  }

  /** Passes through the tracer's code took no time, and no instruction is the program's own. */
  @ParameterizedTest
  @ValueSource(
      strings = {"record -o t.avro", "record --isolate -o t.avro", "emulate --bootstrap BROKER"})
  void terminationEndsAGuestThatNeverLeavesTheTracersCode(String verb) throws Exception {
    Path image = endless();
    if (!verb.contains("BROKER")) {
      terminate(verb, verb + " --image " + image);
      return;
    }
    try (EmbeddedBroker broker = EmbeddedBroker.start(dir.resolve("broker"), 0)) {
      terminate(verb, verb.replace("BROKER", broker.bootstrap()) + " --image " + image);
    }
  }

  private void terminate(String verb, String words) throws Exception {
    Process tracer = start("exec retstack " + words);
    try (BufferedReader notes = reader(tracer)) {
      awaitLine(notes, " records in ");
      long start = System.nanoTime();
      tracer.toHandle().destroy();
      assertThat(tracer.waitFor(60, TimeUnit.SECONDS)).as("it ends").isTrue();
      long millis = (System.nanoTime() - start) / 1_000_000;
      System.out.println(verb + " ended " + millis + " ms after TERM");
      assertThat(millis).isLessThan(ENDS_MS);
    } finally {
      end(tracer);
    }
  }

  /** The first instructions call the counting function so that it returns to itself for ever. */
  private Path endless() throws IOException {
    Path zoo = Zoo.GUEST.resolve("images").resolve("zoo-aarch64-mcount.elf");
    LoadedImage image = LoadedImage.load(zoo);
    long mcount = image.conventions().getFirst().countingFunctions().getFirst().address();
    ByteBuffer elf = ByteBuffer.wrap(Files.readAllBytes(zoo)).order(ByteOrder.LITTLE_ENDIAN);
    int header = (int) elf.getLong(0x20); // the first of the program headers
    while (elf.getInt(header) != 1
        || image.elf().entry() - elf.getLong(header + 16) < 0
        || image.elf().entry() - elf.getLong(header + 16) >= elf.getLong(header + 32)) {
      header += elf.getShort(0x36);
    }
    elf.position((int) (image.elf().entry() - elf.getLong(header + 16) + elf.getLong(header + 8)));
    elf.putInt(0xd280_001e | (int) (mcount & 0xffff) << 5); // mov x30, #low
    elf.putInt(0xf2a0_001e | (int) (mcount >> 16 & 0xffff) << 5); // movk x30, #high, lsl #16
    elf.putInt(0xd65f_03c0); // ret
    return Files.write(dir.resolve("endless.elf"), elf.array());
  }

  /** Of a checkout with one image: more of them end no other way. */
  private Process startDemo() throws Exception {
    Path root = dir.resolve("checkout");
    Path images = Files.createDirectories(root.resolve("emulators/guest/images"));
    String image = "zoo-x86_64-fentry.elf";
    Files.copy(Zoo.GUEST.resolve("images").resolve(image), images.resolve(image));
    return start("exec retstack demo --keep --cores 1 --dir data", "-Dretstack.root=" + root);
  }

  /** Standard output is thrown away; what a human reads is read here. */
  private Process start(String line, String... flags) throws Exception {
    Path script = RetstackScript.write(dir.resolve("bin"), flags);
    return RetstackScript.line(script, dir, Map.of(), line)
        .redirectOutput(Files.createTempFile(dir, "out", ".txt").toFile())
        .start();
  }

  private static BufferedReader reader(Process process) {
    return new BufferedReader(
        new InputStreamReader(process.getErrorStream(), StandardCharsets.UTF_8));
  }

  private static void awaitLine(BufferedReader notes, String part) throws Exception {
    await(notes, Pattern.compile(part, Pattern.LITERAL));
  }

  /** Until chunks were written: on a busy machine the first notes tell of none. */
  private static void awaitRecords(BufferedReader notes) throws Exception {
    await(notes, Pattern.compile("[1-9][0-9,]* records in [1-9]"));
  }

  private static void await(BufferedReader notes, Pattern part) throws Exception {
    StringBuilder said = new StringBuilder();
    for (String line = notes.readLine(); line != null; line = notes.readLine()) {
      if (part.matcher(line).find()) {
        return;
      }
      said.append(line).append('\n');
    }
    throw new AssertionError("it ended without \"" + part + "\":\n" + said);
  }

  private static void end(Process process) {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }
}
