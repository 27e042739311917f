package dev.retstack.cli.result;

import dev.retstack.graph.hot.AddressRange;
import dev.retstack.graph.hot.HotSettings;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Option;

/** The size and the rules of the table of hot addresses. */
final class HotTableOptions {
  @Option(
      names = "--ignore",
      paramLabel = "0xA-0xB",
      description = "Addresses that are not counted, both ends included. May be repeated.")
  private List<String> ignored = List.of();

  @Option(
      names = "--width",
      defaultValue = "1",
      paramLabel = "N",
      description =
          "How many addresses are counted as one, a power of two (default: ${DEFAULT-VALUE}).")
  private int width;

  @Option(
      names = "--entries",
      defaultValue = "30",
      paramLabel = "N",
      description = "Entries of the seed table (default: ${DEFAULT-VALUE}).")
  private int entries;

  @Option(
      names = "--increment",
      defaultValue = "10",
      paramLabel = "N",
      description = "What a hit adds in the seed table (default: ${DEFAULT-VALUE}).")
  private int increment;

  @Option(names = "--no-decay", description = "The hits of the seed table do not decay.")
  private boolean withoutDecay;

  /**
   * The settings.
   *
   * @throws IllegalArgumentException with a sentence, where one makes no sense
   */
  HotSettings settings() {
    List<AddressRange> ranges = new ArrayList<>(HotSettings.SEED.ignored());
    ignored.forEach(text -> ranges.add(AddressRange.parse(text)));
    return new HotSettings(entries, width, increment, !withoutDecay, ranges);
  }
}
