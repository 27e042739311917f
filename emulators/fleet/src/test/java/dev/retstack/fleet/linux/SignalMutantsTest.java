package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.EndDetail;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs whose handlers overwrite their frames with random bytes, or whose stack pointer is
 * random when a signal comes. The core ends with a reason, and both probes record the same. {@code
 * -Dretstack.signal.mutants=10000} runs so many for each ISA.
 */
class SignalMutantsTest {
  private static final int MUTANTS = Integer.getInteger("retstack.signal.mutants", 20);
  private static final long FIRST = 1;

  /** Their handlers return to odd addresses, where mips runs MIPS16 until the core starts anew. */
  private static final List<Long> MIPS_16 = List.of(96L, 120L, 132L, 140L);

  private static final long INSTRUCTIONS = 300_000;

  @TempDir private Path folder;

  private record Outcome(String detail, int hash, long instructions) {}

  private static Outcome run(LoadedImage image, long seed, ProbeKind probe) {
    LinuxOptions linux =
        LinuxOptions.of("prog")
            .withArguments(List.of("prog", Long.toString(seed)))
            .withStackBytes(1 << 20)
            .withMemoryBytesMax(4 << 20);
    CoreOptions options = CoreOptions.of(linux).withProbe(probe).withInstructionLimit(INSTRUCTIONS);
    List<Long> records = new ArrayList<>();
    try (Core core = Core.open(image, options)) {
      Core.Slice slice;
      do {
        slice = core.run(100_000);
        var batch = core.probe().batch();
        for (int i = 0; i < batch.size(); i++) {
          records.add(batch.time[i] * 31 + batch.kind[i]);
          records.add(batch.selfPc[i] ^ batch.fromPc[i] * 7);
        }
        core.probe().clear();
      } while (slice != Core.Slice.ENDED);
      return new Outcome(
          core.ending().orElseThrow().detail(), records.hashCode(), core.instructions());
    }
  }

  /** What stands in the middle of a call site that was overwritten differs with the probe. */
  private static boolean isInsideOfSite(LoadedImage image, String detail) {
    OptionalLong place = EndDetail.place(detail);
    long at = place.orElse(0);
    return IntStream.range(0, image.patchSites().size())
        .mapToObj(i -> image.patchSites().get(i))
        .anyMatch(s -> s.start() < at && at < s.site().after());
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#mutated")
  void everyMutantEndsWithAReason(SignalForm form) throws Exception {
    LoadedImage image = LoadedImage.load(form.build(folder, "signals/mutants.c"));
    LongStream all =
        LongStream.concat(
            LongStream.range(FIRST, FIRST + MUTANTS), MIPS_16.stream().mapToLong(Long::longValue));
    for (long seed : all.toArray()) {
      Outcome outcome = run(image, seed, ProbeKind.AUTO);
      assertThat(outcome.detail()).as("%s, seed %d", form, seed).isNotEmpty();
      assertThat(outcome.instructions()).isLessThanOrEqualTo(INSTRUCTIONS + 10_000);
      if (seed % 4 == 0 && !isInsideOfSite(image, outcome.detail())) {
        assertThat(run(image, seed, ProbeKind.JAVA))
            .as("%s, seed %d", form, seed)
            .isEqualTo(outcome);
      }
    }
  }
}
