package dev.retstack.cli.fleetfile;

import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigValue;
import dev.retstack.cli.CommandException;
import dev.retstack.cli.option.CoreGroup;
import dev.retstack.cli.option.GuestImages;
import dev.retstack.cli.option.ProgramOptions;
import dev.retstack.cli.option.RunOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Reads a fleet file: options of the fleet as a whole, {@code defaults} of all cores, and {@code
 * groups} of cores by name, which override the defaults key by key.
 */
public final class FleetFile {
  /** Keys of the fleet as a whole. */
  static final OptionKeys<RunOptions> OF_FLEET =
      new OptionKeys<>(RunOptions::new, RunOptions::check);

  /** Keys of a group of cores. */
  static final OptionKeys<ProgramOptions> OF_CORES =
      new OptionKeys<>(ProgramOptions::new, ProgramOptions::check);

  private static final String DEFAULTS = "defaults";
  private static final String GROUPS = "groups";

  /** First parts of core names, which are keys of Kafka records and words of targets. */
  private static final Pattern NAME = Pattern.compile("[\\p{L}\\p{N}._-]{1,100}");

  private final Problems problems;
  private final ArgumentReader reader;
  private final ConfigObject root;

  private FleetFile(Path file) {
    this.root = Hocon.read(file);
    this.problems = new Problems(file);
    Path folder = file.toAbsolutePath().getParent();
    this.reader = new ArgumentReader(folder == null ? file.toAbsolutePath() : folder, problems);
  }

  /**
   * Reads a file, or the example of that name that comes along.
   *
   * @throws CommandException which tells every problem with its file and line
   */
  public static FleetPlan read(String named) {
    return new FleetFile(resolve(named)).plan();
  }

  private static Path resolve(String named) {
    Path file = Path.of(named);
    Path example = GuestImages.guest().resolve("../../deploy").normalize().resolve(named);
    return !Files.exists(file) && Files.isRegularFile(example) ? example : file;
  }

  private FleetPlan plan() {
    Set<String> known = new TreeSet<>(OF_FLEET.names());
    known.addAll(List.of(DEFAULTS, GROUPS));
    root.forEach(
        (key, value) -> {
          if (!known.contains(key)) {
            problems.add(
                value.origin(),
                OF_CORES.find(key).isPresent()
                    ? "'%s' is said of cores: put it into defaults or a group".formatted(key)
                    : OptionKeys.unknown("key", key, known));
          }
        });
    List<String> words = reader.read(root, OF_FLEET).stream().map(Argument::word).toList();
    List<CoreGroup> groups = groups();
    problems.throwIfAny();
    return new FleetPlan(groups, words);
  }

  private List<CoreGroup> groups() {
    ConfigObject defaults = object(DEFAULTS, root.get(DEFAULTS));
    requireKeys(defaults);
    var _ = reader.read(defaults, OF_CORES); // what is wrong there is wrong without a group too
    ConfigObject groups = object(GROUPS, root.get(GROUPS));
    if (groups.isEmpty()) {
      problems.add(root.origin(), "no groups: say groups { NAME { image = FILE } }");
    }
    GroupReader cores = new GroupReader(OF_CORES, problems);
    List<CoreGroup> made = new ArrayList<>();
    for (Map.Entry<String, ConfigValue> entry : inOrder(groups)) {
      String name = entry.getKey();
      requireName(name, entry.getValue());
      ConfigObject group = object("group " + name, entry.getValue());
      requireKeys(group);
      List<Argument> words = reader.read(group.withFallback(defaults), OF_CORES);
      cores.read(name, entry.getValue().origin(), words).ifPresent(made::add);
    }
    cores.noteUnmatched();
    return made;
  }

  /** As they stand in the file: objects have no order of their own. */
  private static List<Map.Entry<String, ConfigValue>> inOrder(ConfigObject groups) {
    return groups.entrySet().stream()
        .sorted(
            Comparator.<Map.Entry<String, ConfigValue>>comparingInt(
                    group -> group.getValue().origin().lineNumber())
                .thenComparing(Map.Entry::getKey))
        .toList();
  }

  private void requireName(String name, ConfigValue group) {
    if (!NAME.matcher(name).matches()) {
      problems.add(
          group.origin(),
          "no name of a group: '%s'; up to 100 letters, digits and ._- make one".formatted(name));
    }
  }

  private void requireKeys(ConfigObject object) {
    object.forEach(
        (key, value) -> {
          if (OF_CORES.find(key).isEmpty()) {
            problems.add(
                value.origin(),
                OF_FLEET.find(key).isPresent()
                    ? "'%s' is said of the whole fleet: put it at the top".formatted(key)
                    : OptionKeys.unknown("key", key, OF_CORES.names()));
          }
        });
  }

  private ConfigObject object(String what, ConfigValue value) {
    if (value instanceof ConfigObject object) {
      return object;
    }
    if (value != null) {
      problems.add(value.origin(), what + " is no object: say %s { ... }".formatted(what));
    }
    return ConfigFactory.empty().root();
  }
}
