package dev.retstack.cli.fleetfile;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.Terminal;
import dev.retstack.cli.fleet.CoreSpecs;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.option.CoreGroup;
import dev.retstack.cli.option.RunOptions;
import dev.retstack.cli.option.Tables;
import dev.retstack.fleet.CoreSpec;
import dev.retstack.fleet.FleetOptions;
import dev.retstack.fleet.control.Setting;
import dev.retstack.fleet.control.SiteCatalog;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.service.table.Format;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

/** Shows what a fleet file comes to. */
public final class PlanTable {
  private static final List<String> HEADER =
      List.of("cores", "isa", "image", "labels", "arguments", "sites", "of", "limits", "traces");

  private PlanTable() {}

  /** Writes a line for each group and image; as JSON each core, and the fleet as a whole. */
  public static void write(FleetPlan plan, Format format, Terminal terminal)
      throws JsonProcessingException {
    switch (format) {
      case TEXT -> {
        Tables.text(terminal.out(), HEADER, rows(plan, terminal));
        terminal.out().println();
        terminal.out().println(whole(plan, terminal));
      }
      case CSV -> Tables.csv(terminal.out(), HEADER, rows(plan, terminal));
      case JSON -> Tables.json(terminal.out(), json(plan, terminal));
    }
  }

  private static List<List<String>> rows(FleetPlan plan, Terminal terminal) {
    List<List<String>> rows = new ArrayList<>();
    for (CoreGroup group : plan.groups()) {
      List<CoreSpec> cores = CoreSpecs.of(List.of(group), terminal);
      for (int i = 0; i < cores.size(); i += group.cores()) {
        rows.add(row(cores.subList(i, i + group.cores())));
      }
    }
    return rows;
  }

  private static List<String> row(List<CoreSpec> cores) {
    CoreSpec core = cores.getFirst();
    LoadedImage image = core.image();
    CoreOptions options = core.options();
    SiteCatalog sites = SiteCatalog.of(image);
    List<String> arguments = options.linux().arguments();
    return List.of(
        cores.size() == 1 ? core.name() : core.name() + ".." + cores.getLast().name(),
        image.isa().name(),
        image.elf().name(),
        new TreeMap<>(core.labels())
            .entrySet().stream().map(Map.Entry::toString).collect(Collectors.joining(" ")),
        String.join(" ", arguments.subList(1, arguments.size())),
        Integer.toString(sites.countOn(options.trace())),
        Integer.toString(sites.subjects().size()),
        options.instructionLimit() == CoreOptions.UNLIMITED
            ? ""
            : "%,d instructions".formatted(options.instructionLimit()),
        traces(Setting.lines(options.trace())));
  }

  private static String traces(List<String> lines) {
    return lines.isEmpty() ? "everything (standard)" : String.join("; ", lines);
  }

  private static String whole(FleetPlan plan, Terminal terminal) {
    RunOptions run = FleetFile.OF_FLEET.parse(plan.words());
    KafkaLink link = run.kafka().link(terminal);
    return "%d cores%s, codec %s; into kafka at %s, topics %s"
        .formatted(
            plan.groups().stream().mapToLong(CoreGroup::size).sum(),
            run.isolation().isolate() ? " in processes of their own" : "",
            run.intoKafka().codec().id(),
            link.settings().bootstrap(),
            link.topics().events());
  }

  private static ObjectNode json(FleetPlan plan, Terminal terminal) {
    RunOptions run = FleetFile.OF_FLEET.parse(plan.words());
    FleetOptions options = run.intoKafka();
    KafkaLink link = run.kafka().link(terminal);
    ObjectNode root = Tables.JSON.createObjectNode();
    ObjectNode fleet = root.putObject("fleet");
    fleet.put("session", run.session().orElse(""));
    fleet.put("codec", options.codec().id());
    fleet.put("flushMs", options.flushInterval().toMillis());
    fleet.put("isolate", run.isolation().isolate());
    fleet.put("isolateRestarts", run.isolation().restarts());
    fleet.put("bootstrap", link.settings().bootstrap());
    fleet.put("prefix", link.topics().prefix());
    fleet.put("partitions", link.partitions());
    // names only: among the values are passwords
    run.kafka().security(terminal).keySet().forEach(fleet.putArray("kafkaSettings")::add);
    ArrayNode cores = root.putArray("cores");
    CoreSpecs.of(plan.groups(), terminal).forEach(core -> put(cores.addObject(), core));
    return root;
  }

  private static void put(ObjectNode row, CoreSpec core) {
    CoreOptions options = core.options();
    row.put("core", core.name());
    row.put("isa", core.image().isa().name());
    row.put("image", core.image().elf().file().map(Object::toString).orElse(""));
    row.put("buildId", core.image().elf().buildId());
    row.set("labels", Tables.JSON.valueToTree(new TreeMap<>(core.labels())));
    row.set("arguments", Tables.JSON.valueToTree(options.linux().arguments()));
    row.set("environment", Tables.JSON.valueToTree(options.linux().environment()));
    row.put("clock", options.clock().name().toLowerCase(Locale.ROOT));
    row.put("probe", options.probe().name().toLowerCase(Locale.ROOT));
    if (options.instructionLimit() != CoreOptions.UNLIMITED) {
      row.put("instructionsMax", options.instructionLimit());
    }
    row.put("retStackMax", options.retStackLimit());
    row.put("checkReturns", options.checkReturns());
    row.put("memoryBytesMax", options.linux().memoryBytesMax());
    row.put("outputBytesMax", options.linux().outputBytesMax());
    row.put("stackBytes", options.linux().stackBytes());
    row.put("start", options.trace().on() ? "on" : "off");
    row.set("trace", Tables.JSON.valueToTree(Setting.allTexts(options.trace())));
  }
}
