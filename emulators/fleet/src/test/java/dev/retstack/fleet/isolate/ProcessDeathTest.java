package dev.retstack.fleet.isolate;

import static dev.retstack.fleet.MemorySink.stream;
import static dev.retstack.fleet.isolate.Isolation.program;
import static dev.retstack.fleet.isolate.Isolation.signal;
import static dev.retstack.fleet.isolate.Isolation.zoo;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.MemorySink;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.isolate.Isolation.Told;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.CoreResult;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.CoreEnd;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Processes of cores that are killed, or that their guests kill. */
@Timeout(180)
class ProcessDeathTest {
  /** Kills the child of a core at the first chunk of the core. */
  private static MemorySink killing(String core, String signal, Told told, LoadedImage image) {
    return new MemorySink() {
      @Override
      public void chunk(Chunk chunk) throws IOException, InterruptedException {
        super.chunk(chunk);
        if (chunk.getCore().equals(core) && chunk.getSequence() == 0) {
          long pid = told.pids.get(image.elf().name());
          Optional<ProcessHandle> process = ProcessHandle.of(pid);
          signal(signal, pid);
          process.ifPresent(p -> p.onExit().join()); // nobody reads its pipe meanwhile
        }
      }
    };
  }

  @Test
  void aCrashEndsTheCoresOfItsImageWithALastChunkAndTheyStartAgain() throws Exception {
    LoadedImage crashing = zoo(0);
    LoadedImage other = zoo(1);
    // more chunks than a pipe holds, so that no core can end before the signal does its work
    CoreOptions fib = program("fib", "22");
    List<CoreSpec> cores =
        List.of(
            new CoreSpec("a", crashing, fib),
            new CoreSpec("b", crashing, fib),
            new CoreSpec("c", other, fib));
    Told told = new Told();
    MemorySink sink = killing("a", "SEGV", told, crashing);
    FleetOptions options = FleetOptions.standard().withSliceInstructions(20_000);
    List<CoreResult> results = IsolatedFleet.run(cores, options, 3, sink, told);

    IsolateListener.ProcessDeath death = told.deaths.getFirst();
    assertThat(told.deaths).hasSize(1);
    assertThat(death.image()).isEqualTo(crashing.elf().name());
    assertThat(death.reason()).startsWith("signal 11 (SIGSEGV)");
    assertThat(death.cores()).contains("a").isSubsetOf("a", "b");
    assertThat(death.restarted())
        .isEqualTo(death.cores().stream().map(name -> name + ".restart-1").toList());

    RecordBatch whole = Run.of(crashing, "fib", "22").records();
    for (String core : death.cores()) {
      List<Chunk> chunks = sink.chunks.get(core);
      Chunk last = chunks.getLast();
      assertThat(last.getEnd()).isEqualTo(CoreEnd.FAULTED);
      assertThat(last.getEndDetail()).startsWith("emulator process died: signal 11 (SIGSEGV)");
      assertThat(last.getRecordCount()).isZero();
      RecordBatch came = stream(chunks);
      assertThat(came.size()).isLessThan(whole.size());
      for (int i = 0; i < came.size(); i++) {
        assertThat(came.time[i]).isEqualTo(whole.time[i]);
        assertThat(came.selfPc[i]).isEqualTo(whole.selfPc[i]);
      }
      assertThat(stream(sink.chunks.get(core + ".restart-1"))).isEqualTo(whole);
    }
    assertThat(stream(sink.chunks.get("c"))).isEqualTo(Run.of(other, "fib", "22").records());
    assertThat(sink.chunks).hasSize(3 + death.cores().size());
    assertThat(results).hasSize(3 + death.cores().size());
    assertThat(results.stream().filter(CoreResult::ok).count()).isEqualTo(3);
    assertThat(results.stream().mapToLong(CoreResult::records).sum())
        .isEqualTo(
            sink.chunks.values().stream()
                .flatMap(List::stream)
                .mapToLong(Chunk::getRecordCount)
                .sum());
  }

  /**
   * An s390x guest that sets the clock: SCK kills the process of the engine (Unicorn 2.1.4). The
   * fleet outlives it, and so do cores of other images.
   */
  @Test
  void aGuestThatKillsItsEmulatorKillsNothingElse(@TempDir Path folder) throws Exception {
    LoadedImage good = zoo(0);
    LoadedImage bad = withSckIn("run_sort", folder.resolve("bad.elf"));
    List<CoreSpec> cores =
        List.of(
            new CoreSpec(
                "bad", bad, CoreOptions.of(LinuxOptions.of("zoo")).withRecordsPerChunk(64)),
            new CoreSpec("good", good, program("sort")));
    MemorySink sink = new MemorySink();
    Told told = new Told();
    List<CoreResult> results = IsolatedFleet.run(cores, FleetOptions.standard(), 1, sink, told);
    assertThat(told.deaths).hasSize(2);
    assertThat(told.deaths)
        .allSatisfy(
            death ->
                assertThat(death.reason()).matches("signal 11 \\(SIGSEGV\\) in libunicorn\\S+"));
    assertThat(results)
        .extracting(CoreResult::name)
        .containsExactlyInAnyOrder("bad", "bad.restart-1", "good");
    assertThat(results).filteredOn(CoreResult::ok).extracting(CoreResult::name).contains("good");
    assertThat(stream(sink.chunks.get("bad")).size()).isPositive();
    assertThat(stream(sink.chunks.get("bad.restart-1"))).isEqualTo(stream(sink.chunks.get("bad")));
    assertThat(stream(sink.chunks.get("good"))).isEqualTo(Run.of(good, "sort").records());
  }

  private static LoadedImage withSckIn(String function, Path file) throws IOException {
    LoadedImage image =
        Zoo.images().stream()
            .filter(i -> i.elf().name().equals("zoo-s390x-mcount.elf"))
            .findFirst()
            .orElseThrow();
    byte[] code = new byte[32];
    image
        .elf()
        .memory(image.elf().symbol(function).orElseThrow().address(), code.length)
        .orElseThrow()
        .get(code);
    byte[] bytes = Files.readAllBytes(image.elf().file().orElseThrow());
    int at = 0;
    while (!Arrays.equals(bytes, at, at + code.length, code, 0, code.length)) {
      at++;
    }
    byte[] sck = HexFormat.of().parseHex("b204f0000700"); // sck 0(%r15); nopr
    System.arraycopy(sck, 0, bytes, at, sck.length);
    return LoadedImage.load(Files.write(file, bytes));
  }

  @Test
  void restartsAreBounded() throws Exception {
    Told told = new Told();
    MemorySink sink =
        new MemorySink() {
          @Override
          public void chunk(Chunk chunk) throws IOException, InterruptedException {
            super.chunk(chunk);
            if (chunk.getSequence() == 0 && chunk.getEnd() == CoreEnd.RUNNING) {
              signal("KILL", told.pids.get(zoo(0).elf().name()));
            }
          }
        };
    List<CoreSpec> cores = List.of(new CoreSpec("a", zoo(0), program("fib", "40")));
    List<CoreResult> results = IsolatedFleet.run(cores, FleetOptions.standard(), 2, sink, told);
    assertThat(results)
        .extracting(CoreResult::name)
        .containsExactly("a", "a.restart-1", "a.restart-2");
    assertThat(results)
        .allSatisfy(
            result ->
                assertThat(result.ending().detail()).isEqualTo("emulator process died: signal 9"));
    assertThat(told.deaths.getLast().restarted()).isEmpty();
    for (List<Chunk> chunks : sink.chunks.values()) {
      assertThat(stream(chunks).size()).isPositive();
    }
  }
}
