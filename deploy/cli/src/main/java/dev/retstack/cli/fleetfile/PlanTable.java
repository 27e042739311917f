package dev.retstack.cli.fleetfile;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.fleet.CoreGroup;
import dev.retstack.cli.fleet.CoreSpecs;
import dev.retstack.cli.fleet.RunOptions;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.graph.check.Count;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Shows the fleet that a file describes. */
public final class PlanTable {
  private static final Table<CoreSpec> CORES =
      new Table<CoreSpec>()
          .onlyJson("core", CoreSpec::name)
          .onlyJson("isa", core -> core.image().isa().name())
          .onlyJson("image", core -> core.image().elf().file().map(Object::toString).orElse(""))
          .onlyJson("buildId", core -> core.image().elf().buildId())
          .onlyJson("labels", core -> new TreeMap<>(core.labels()))
          .onlyJson("arguments", core -> core.options().linux().arguments())
          .onlyJson("environment", core -> core.options().linux().environment())
          .onlyJson("clock", core -> core.options().clock().name().toLowerCase(Locale.ROOT))
          .onlyJson("probe", core -> core.options().probe().name().toLowerCase(Locale.ROOT))
          .onlyJson("instructionsMax", core -> limit(core.options()))
          .onlyJson("retStackMax", core -> core.options().retStackLimit())
          .onlyJson("checkReturns", core -> core.options().checkReturns())
          .onlyJson("libraryCalls", core -> core.options().libraryCalls())
          .onlyJson("memoryBytesMax", core -> core.options().linux().memoryBytesMax())
          .onlyJson("outputBytesMax", core -> core.options().linux().outputBytesMax())
          .onlyJson("stackBytes", core -> core.options().linux().stackBytes())
          .onlyJson("start", core -> core.options().trace().on() ? "on" : "off")
          .onlyJson("trace", core -> Setting.allTexts(core.options().trace()));

  /** Cores of one group with the same image. */
  private record Alike(List<CoreSpec> cores, CoreSpec first, SiteCatalog sites) {
    static Alike of(List<CoreSpec> cores) {
      return new Alike(cores, cores.getFirst(), cores.getFirst().catalog());
    }

    String names() {
      return cores.size() == 1 ? first.name() : first.name() + ".." + cores.getLast().name();
    }

    String arguments() {
      List<String> all = first.options().linux().arguments();
      return String.join(" ", all.subList(1, all.size()));
    }

    String labels() {
      return new TreeMap<>(first.labels())
          .entrySet().stream().map(Map.Entry::toString).collect(Collectors.joining(" "));
    }
  }

  private static final Table<Alike> ROWS =
      new Table<Alike>()
          .text("cores", Alike::names)
          .text("isa", row -> row.first().image().isa().name())
          .text("image", row -> row.first().image().elf().name())
          .text("labels", Alike::labels)
          .text("arguments", Alike::arguments)
          .text("sites", row -> row.sites().countOn(row.first().options().trace()))
          .text("of", row -> row.sites().subjects().size())
          .text("limits", row -> limit(row.first().options()).map("%,d instructions"::formatted))
          .text("traces", row -> traces(Setting.lines(row.first().options().trace())))
          .headedAsNamed();

  private PlanTable() {}

  /** A line for each group and image; in JSON each core, and the fleet as a whole. */
  public static Document document(FleetFile.Plan plan, Terminal terminal) {
    List<Alike> rows = rows(plan, terminal);
    return new Document()
        .indented()
        .field("fleet", fleet(plan, terminal))
        .rows("cores", CORES, CoreSpecs.of(plan.groups(), terminal))
        .csv(ROWS, rows)
        .text(ROWS, rows)
        .gap()
        .line(whole(plan, terminal));
  }

  private static List<Alike> rows(FleetFile.Plan plan, Terminal terminal) {
    List<Alike> rows = new ArrayList<>();
    for (CoreGroup group : plan.groups()) {
      List<CoreSpec> cores = CoreSpecs.of(List.of(group), terminal);
      for (int i = 0; i < cores.size(); i += group.cores()) {
        rows.add(Alike.of(cores.subList(i, i + group.cores())));
      }
    }
    return rows;
  }

  private static Optional<Long> limit(CoreOptions options) {
    return Optional.of(options.instructionLimit()).filter(limit -> limit != CoreOptions.UNLIMITED);
  }

  private static String traces(List<String> lines) {
    return lines.isEmpty() ? "everything (standard)" : String.join("; ", lines);
  }

  private static String whole(FleetFile.Plan plan, Terminal terminal) {
    RunOptions run = FleetFile.OF_FLEET.parse(plan.words());
    KafkaLink link = run.kafka().link(terminal);
    return "%s%s, codec %s; into kafka at %s, topics %s"
        .formatted(
            Count.of(plan.groups().stream().mapToLong(CoreGroup::size).sum(), "core"),
            run.isolation().isolate() ? " in separate processes" : "",
            run.intoKafka().codec().id(),
            link.settings().bootstrap(),
            link.topics().events());
  }

  private static Map<String, Object> fleet(FleetFile.Plan plan, Terminal terminal) {
    RunOptions run = FleetFile.OF_FLEET.parse(plan.words());
    FleetOptions options = run.intoKafka();
    KafkaLink link = run.kafka().link(terminal);
    Map<String, Object> fleet = new LinkedHashMap<>();
    fleet.put("session", run.session().orElse(""));
    fleet.put("codec", options.codec().id());
    fleet.put("flushMs", options.flushInterval().toMillis());
    fleet.put("isolate", run.isolation().isolate());
    fleet.put("isolateRestarts", run.isolation().restarts());
    fleet.put("bootstrap", link.settings().bootstrap());
    fleet.put("prefix", link.topics().prefix());
    fleet.put("partitions", link.partitions());
    // names only: among the values are passwords
    fleet.put("kafkaSettings", run.kafka().security(terminal).keySet());
    return fleet;
  }
}
