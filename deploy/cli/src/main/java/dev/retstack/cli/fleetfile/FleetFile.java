package dev.retstack.cli.fleetfile;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import com.typesafe.config.ConfigValue;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.fleet.CoreGroup;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.fleet.ProgramOptions;
import dev.retstack.cli.fleet.RunOptions;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/**
 * Reads a fleet file: options of the whole fleet, {@code defaults} of all cores, and {@code groups}
 * of cores by name. The keys of a group override the defaults one by one.
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

  /**
   * What a file describes, without a problem.
   *
   * @param groups its cores
   * @param words what it says of the fleet as a whole, as words of a command line
   */
  public record Plan(List<CoreGroup> groups, List<String> words) {
    public Plan {
      groups = List.copyOf(groups);
      words = List.copyOf(words);
    }
  }

  private final Problems problems;
  private final ArgumentReader reader;
  private final ConfigObject root;

  private FleetFile(Path file) {
    this.root = parse(file);
    this.problems = new Problems(file);
    Path folder = file.toAbsolutePath().getParent();
    this.reader = new ArgumentReader(folder == null ? file.toAbsolutePath() : folder, problems);
  }

  /**
   * Reads a file, or the committed example of that name.
   *
   * @throws CommandException that lists every problem with its file and line
   */
  public static Plan read(String named) {
    return new FleetFile(resolve(named)).plan();
  }

  /**
   * Reads HOCON: the file with its includes and substitutions, which also know the environment:
   * {@code ${?HOME}}.
   *
   * @throws CommandException with file and line
   */
  private static ConfigObject parse(Path file) {
    if (!Files.isReadable(file) || Files.isDirectory(file)) {
      throw FileTrouble.reading(file, new NoSuchFileException(file.toString()));
    }
    try {
      return ConfigFactory.parseFile(
              file.toFile(),
              ConfigParseOptions.defaults().setAllowMissing(false).setSyntax(ConfigSyntax.CONF))
          .resolve()
          .root();
    } catch (ConfigException e) {
      Problems problems = new Problems(file);
      if (e.origin() == null) {
        throw CommandException.usage("%s is not HOCON: %s".formatted(file, e.getMessage()));
      }
      problems.add(e.origin(), "not HOCON: " + withoutPlace(e));
      problems.throwIfAny();
      throw e; // not reached
    }
  }

  private static String withoutPlace(ConfigException e) {
    String place = e.origin().description() + ": ";
    String sentence =
        e.getMessage().startsWith(place)
            ? e.getMessage().substring(place.length())
            : e.getMessage();
    return sentence.replaceFirst(
        " \\(if you intended .*", "; put a text with such characters in double quotes");
  }

  private static Path resolve(String named) {
    Path file = Path.of(named);
    Path example = GuestImages.guest().resolve("../../deploy").normalize().resolve(named);
    return !Files.exists(file) && Files.isRegularFile(example) ? example : file;
  }

  private Plan plan() {
    Set<String> known = new TreeSet<>(OF_FLEET.names());
    known.addAll(List.of(DEFAULTS, GROUPS));
    root.forEach(
        (key, value) -> {
          if (!known.contains(key)) {
            problems.add(
                value.origin(),
                OF_CORES.find(key).isPresent()
                    ? "'%s' is an option of cores: put it into defaults or a group".formatted(key)
                    : OptionKeys.unknown("key", key, known));
          }
        });
    List<String> words = reader.read(root, OF_FLEET).stream().map(Argument::word).toList();
    List<CoreGroup> groups = groups();
    problems.throwIfAny();
    return new Plan(groups, words);
  }

  private List<CoreGroup> groups() {
    ConfigObject defaults = object(DEFAULTS, root.get(DEFAULTS));
    requireKeys(defaults);
    var _ = reader.read(defaults, OF_CORES); // what is wrong there is wrong without a group too
    ConfigObject groups = object(GROUPS, root.get(GROUPS));
    if (groups.isEmpty()) {
      problems.add(root.origin(), "no groups: write groups { NAME { image = FILE } }");
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

  /** Groups in the order of the file, because objects of HOCON are unordered. */
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
          "not a group name: '%s'; use up to 100 letters, digits and ._-".formatted(name));
    }
  }

  private void requireKeys(ConfigObject object) {
    object.forEach(
        (key, value) -> {
          if (OF_CORES.find(key).isEmpty()) {
            problems.add(
                value.origin(),
                OF_FLEET.find(key).isPresent()
                    ? "'%s' is an option of the whole fleet: put it at the top".formatted(key)
                    : OptionKeys.unknown("key", key, OF_CORES.names()));
          }
        });
  }

  private ConfigObject object(String what, ConfigValue value) {
    if (value instanceof ConfigObject object) {
      return object;
    }
    if (value != null) {
      problems.add(value.origin(), what + " is not an object: write %s { ... }".formatted(what));
    }
    return ConfigFactory.empty().root();
  }
}
