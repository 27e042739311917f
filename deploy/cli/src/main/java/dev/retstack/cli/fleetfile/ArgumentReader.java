package dev.retstack.cli.fleetfile;

import com.typesafe.config.ConfigList;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigOrigin;
import com.typesafe.config.ConfigUtil;
import com.typesafe.config.ConfigValue;
import com.typesafe.config.ConfigValueType;
import dev.retstack.cli.fleet.TraceOptions;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import picocli.CommandLine.Model.OptionSpec;

/**
 * Turns the keys of an object into words of a command line. Each word is checked by its option,
 * which says what is wrong. File names are relative to the file that has them.
 */
final class ArgumentReader {
  /** The option whose texts are files or names of the zoo. */
  static final String IMAGE = "image";

  private final Path folder;
  private final Problems problems;
  private final Set<Argument> checked = new HashSet<>();

  /**
   * @param folder of the fleet file
   */
  ArgumentReader(Path folder, Problems problems) {
    this.folder = folder;
    this.problems = problems;
  }

  /**
   * The words for an object, but for keys that are no options. A key without a value (null) counts
   * as not said.
   */
  List<Argument> read(Map<String, ConfigValue> object, OptionKeys<?> keys) {
    List<Argument> arguments = new ArrayList<>();
    new TreeMap<>(object)
        .forEach(
            (key, value) ->
                keys.find(key).ifPresent(option -> arguments.addAll(words(option, key, value))));
    for (Argument argument : arguments) {
      if (checked.add(argument)) {
        keys.problem(argument).ifPresent(why -> problems.add(argument, why));
      }
    }
    return arguments;
  }

  private List<Argument> words(OptionSpec option, String key, ConfigValue value) {
    if (value.valueType() == ConfigValueType.NULL) {
      return List.of();
    }
    if (OptionKeys.isSwitch(option)) {
      return switched(option, key, value);
    }
    if (OptionKeys.isMap(option)) {
      return pairs(option, key, value);
    }
    if (value instanceof ConfigList list && option.isMultiValue()) {
      return list.stream().flatMap(item -> one(option, key, item).stream()).toList();
    }
    return one(option, key, value);
  }

  private List<Argument> one(OptionSpec option, String key, ConfigValue value) {
    return switch (value.valueType()) {
      case STRING, NUMBER, BOOLEAN -> {
        String text = located(option, key, text(value), value.origin());
        yield List.of(new Argument(key, text, "--" + key + "=" + text, value.origin()));
      }
      case LIST, OBJECT, NULL ->
          wrong(
              value,
              "%s takes %s, this is %s"
                  .formatted(
                      key,
                      option.isMultiValue() ? "a text or a list of texts" : "one value",
                      kind(value)));
    };
  }

  private List<Argument> switched(OptionSpec option, String key, ConfigValue value) {
    String text = value.valueType() == ConfigValueType.BOOLEAN ? text(value) : "";
    if (text.isEmpty()) {
      return wrong(value, "%s is true or false, this is %s".formatted(key, kind(value)));
    }
    String word = text.equals("true") ? option.longestName() : "--no-" + key;
    return List.of(new Argument(key, text, word, value.origin()));
  }

  private List<Argument> pairs(OptionSpec option, String key, ConfigValue value) {
    if (!(value instanceof ConfigObject object)) {
      return wrong(
          value,
          "%s takes %s, this is %s"
              .formatted(key, "{ " + option.paramLabel().replace("=", " = ") + " }", kind(value)));
    }
    List<Argument> pairs = new ArrayList<>();
    for (Map.Entry<String, ConfigValue> pair : new TreeMap<>(leaves(object)).entrySet()) {
      String text = pair.getKey() + "=" + text(pair.getValue());
      pairs.add(new Argument(key, text, "--" + key + "=" + text, pair.getValue().origin()));
    }
    return pairs;
  }

  /** {@code security { protocol = SSL }} is {@code security.protocol = SSL}. */
  private Map<String, ConfigValue> leaves(ConfigObject object) {
    Map<String, ConfigValue> leaves = new TreeMap<>();
    object
        .toConfig()
        .entrySet()
        .forEach(
            leaf -> {
              if (leaf.getValue().valueType() == ConfigValueType.LIST) {
                problems.add(
                    leaf.getValue().origin(), leaf.getKey() + " takes one value, this is a list");
              } else {
                leaves.put(String.join(".", ConfigUtil.splitPath(leaf.getKey())), leaf.getValue());
              }
            });
    return leaves;
  }

  private List<Argument> wrong(ConfigValue value, String sentence) {
    problems.add(value.origin(), sentence);
    return List.of();
  }

  private static String kind(ConfigValue value) {
    return switch (value.valueType()) {
      case OBJECT -> "an object";
      case LIST -> "a list";
      case STRING, NUMBER -> "'" + text(value) + "'";
      case BOOLEAN -> text(value);
      case NULL -> "null";
    };
  }

  /** The value as the file has it: a number keeps its form. */
  private static String text(ConfigValue value) {
    return value.atKey("text").getString("text");
  }

  private String located(OptionSpec option, String key, String text, ConfigOrigin origin) {
    if (text.startsWith("@") && OptionKeys.owner(option).equals(TraceOptions.class)) {
      return "@" + beside(origin).resolve(text.substring(1));
    }
    if (OptionKeys.takesPath(option)) {
      return beside(origin).resolve(text).toString();
    }
    if (key.equals(IMAGE) && Files.isRegularFile(beside(origin).resolve(text))) {
      return beside(origin).resolve(text).toString();
    }
    return text;
  }

  private Path beside(ConfigOrigin origin) {
    Path file = origin.filename() == null ? null : Path.of(origin.filename());
    Path parent = file == null ? folder : file.toAbsolutePath().getParent();
    return parent == null ? folder : parent;
  }
}
