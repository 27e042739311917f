package dev.retstack.cli.peer;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.Ran;
import dev.retstack.cli.house.Repository;
import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.graph.hot.AddressRange;
import dev.retstack.graph.hot.HotCount;
import dev.retstack.graph.hot.HotSettings;
import dev.retstack.graph.hot.SeedTable;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.Symbol;
import dev.retstack.schema.record.RecordBatch;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The same image twice: untraced, where its own counting function keeps the tables of the
 * bare-metal seed in its memory, and traced, where our table hears of the entries. Both tables are
 * equal, entry by entry.
 */
class HotGuestTest {
  private static final String PROGRAM = "hot";
  private static final int MAX_ENTRIES = 30;

  /** A table as it lies in the guest, see guest/hot/profiling.h. */
  private record GuestTable(HotSettings settings, long total, List<HotCount> entries) {
    static GuestTable read(ByteBuffer memory) {
      long ignored = memory.getLong(16);
      int width = memory.getInt(4);
      HotSettings settings =
          new HotSettings(
              memory.getInt(0),
              width,
              memory.getInt(8),
              memory.getInt(12) != 0,
              List.of(new AddressRange(ignored, ignored + width)));
      List<HotCount> entries = new ArrayList<>();
      for (int i = 0; i < settings.entries(); i++) {
        int entry = 32 + 24 * i;
        assertThat(i).isLessThan(MAX_ENTRIES);
        if (memory.getLong(entry + 8) != 0) {
          entries.add(
              new HotCount(
                  memory.getLong(entry), memory.getLong(entry + 8), memory.getLong(entry + 16)));
        }
      }
      return new GuestTable(settings, Integer.toUnsignedLong(memory.getInt(24)), entries);
    }
  }

  @ParameterizedTest
  @CsvSource({
    "riscv64, hot_seed",
    "riscv64, hot_wide",
    "riscv64, hot_small",
    "riscv32, hot_seed",
    "riscv32, hot_wide",
    "riscv32, hot_small"
  })
  void ourTableIsTheGuestsOwn(String isa, String symbol) throws Exception {
    LoadedImage image = LoadedImage.load(file(isa));
    GuestTable guest = untraced(image, symbol);
    assertThat(guest.entries()).hasSize(guest.settings().entries());

    Run traced = Run.of(image, PROGRAM);
    assertThat(traced.ending().detail()).isEqualTo("exited with code 0");
    assertThat(traced.overruns() + traced.unhijackable()).isZero();
    assertThat(traced.output()).as("its own tables stay empty while it is traced").isEmpty();
    SeedTable ours = new SeedTable(guest.settings());
    RecordBatch records = traced.records();
    for (int i = 0; i < records.size(); i++) {
      if (records.kind[i] == RecordBatch.ENTRY) {
        ours.hit(records.selfPc[i]);
      }
    }
    assertThat(ours.counts()).isEqualTo(guest.entries());
    assertThat(ours.total()).isEqualTo(guest.total());
  }

  @Test
  void theTablesOfTheSeedAreAsItHasThem() throws Exception {
    LoadedImage image = LoadedImage.load(file("riscv64"));
    assertThat(untraced(image, "hot_seed").settings()).isEqualTo(HotSettings.SEED);
  }

  @ParameterizedTest
  @ValueSource(strings = {"riscv64", "riscv32"})
  void theCommandShowsWhatTheGuestPrints(String isa, @TempDir Path dir) throws Exception {
    LoadedImage image = LoadedImage.load(file(isa));
    String printed =
        Run.of(image, Run.options().withTraced(false), 1_000_000, core -> {}, PROGRAM).output();
    List<String> guest =
        printed
            .lines()
            .filter(line -> line.startsWith("seed "))
            .map(line -> line.replaceAll("^seed +", ""))
            .toList();

    Path trace = dir.resolve("hot.avro");
    Ran.well("record", "--image", file(isa).toString(), "-o", trace.toString(), "--", PROGRAM);
    Ran shown = Ran.well("hot", trace.toString(), "--per-core", "--format", "csv");
    assertThat(
            shown
                .out()
                .lines()
                .skip(1)
                .map(line -> line.split(",", -1))
                .map(field -> field[2] + " " + field[5] + " " + field[6])
                .collect(Collectors.toList()))
        .isEqualTo(guest)
        .hasSize(MAX_ENTRIES);
  }

  private static GuestTable untraced(LoadedImage image, String symbol) {
    LinuxOptions linux =
        LinuxOptions.of("hot")
            .withStreams(
                InputStream.nullInputStream(),
                OutputStream.nullOutputStream(),
                OutputStream.nullOutputStream());
    try (Core core = Core.open(image, Run.options().withTraced(false).withLinux(linux))) {
      assertThat(core.run(100_000_000)).isEqualTo(Core.Slice.ENDED);
      assertThat(core.ending().orElseThrow().detail()).isEqualTo("exited with code 0");
      Symbol table = image.elf().symbol(symbol).orElseThrow();
      byte[] bytes = new byte[(int) table.size()];
      core.engine().mem_read(table.address(), bytes);
      return GuestTable.read(ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN));
    }
  }

  private static Path file(String isa) {
    return Repository.root().resolve("emulators/guest/hot/images/hot-" + isa + "-mcount-g.elf");
  }
}
