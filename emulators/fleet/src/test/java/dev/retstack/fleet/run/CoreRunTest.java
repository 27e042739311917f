package dev.retstack.fleet.run;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.MemorySink;
import dev.retstack.fleet.RunningFleet;
import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.publish.SentImages;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.zoo.EachIsa;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.Images;
import dev.retstack.schema.Control;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.record.RecordBatch;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** One core, its slices run by the test. */
class CoreRunTest {
  /** {@code -Dretstack.zoo=all} tries more lengths. */
  private static final int RECORDS_PER_CHUNK_MOST = EachIsa.ALL ? 60 : 12;

  private static final int SLICES_MOST = 3;

  /**
   * A command may come when the chunk is full to the last record. What notes it then waits for the
   * next chunk, and the end of the core is no reason to forget it.
   */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aCoreThatIsStoppedBehindACommandHasRecordedIt(boolean sharing) throws Exception {
    LoadedImage image = LoadedImage.load(Images.of("riscv64", "mcount"));
    SiteCatalog catalog = SiteCatalog.of(image);
    for (int records = 1; records <= RECORDS_PER_CHUNK_MOST; records++) {
      MemorySink sink = new MemorySink();
      CoreSpec core =
          new CoreSpec(
              "c", image, RunningFleet.busy().withRecordsPerChunk(records), Map.of("rack", "0"));
      CoreRun run =
          new CoreRun(
              core,
              FleetOptions.standard(),
              10_000,
              sink,
              new SentImages(sink),
              new CoreSettings(core, () -> catalog));
      Optional<RecordBuffers> buffers =
          sharing ? Optional.of(new RecordBuffers()) : Optional.empty();
      for (int i = 0; i < 1 + records % SLICES_MOST; i++) {
        run.slice(buffers);
      }
      List<ControlStatus> answers = new ArrayList<>();
      for (long number = 1; number <= 2; number++) {
        run.command(command(number), answer -> answers.add(answer.getStatus()));
      }
      run.stop("the test has seen enough");

      assertThat(answers).containsExactly(ControlStatus.APPLIED, ControlStatus.APPLIED);
      RecordBatch stream = MemorySink.stream(sink.chunks.get("c"));
      assertThat(marks(stream)).as("commands, %d records a chunk", records).containsExactly(1L, 2L);
    }
  }

  private static Command command(long number) {
    Control control =
        Control.newBuilder()
            .setId("command-" + number)
            .setTarget("all")
            .setDeadline(0)
            .setName("set-notrace")
            .setArguments(List.of("w200_00" + number))
            .build();
    return Command.of(control, number);
  }

  private static List<Long> marks(RecordBatch records) {
    List<Long> commands = new ArrayList<>();
    for (int i = 0; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.MARK) {
        commands.add(records.retP[i]);
      }
    }
    return commands;
  }
}
