package dev.retstack.cli.fleetfile;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.Ranges;
import dev.retstack.schema.wire.NearNames;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SequencedMap;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;

/**
 * The options of a class as keys: {@code --max-depth} is {@code max-depth}.
 *
 * @param <T> the class
 */
final class OptionKeys<T> {
  /** Most names that are offered for a wrong one. */
  private static final int OFFERED_MAX = 3;

  private final Supplier<T> fresh;
  private final Consumer<T> check;
  private final SequencedMap<String, OptionSpec> options = new TreeMap<>();

  /**
   * @param fresh makes an instance
   * @param check throws a {@link CommandException} where the options of one make no sense
   */
  OptionKeys(Supplier<T> fresh, Consumer<T> check) {
    this.fresh = fresh;
    this.check = check;
    for (OptionSpec option : CommandSpec.forAnnotatedObject(fresh.get()).options()) {
      options.put(key(option), option);
    }
  }

  /** An option's longest name without its dashes. */
  static String key(OptionSpec option) {
    return option.longestName().replaceFirst("^-+", "");
  }

  Optional<OptionSpec> find(String key) {
    return Optional.ofNullable(options.get(key));
  }

  Collection<String> names() {
    return options.keySet();
  }

  /** True for an option that takes {@code KEY=VALUE}. */
  static boolean isMap(OptionSpec option) {
    return Map.class.isAssignableFrom(option.type());
  }

  /** True for a switch. */
  static boolean isSwitch(OptionSpec option) {
    return option.typeInfo().isBoolean() && option.arity().max() == 0;
  }

  /**
   * An instance with these words.
   *
   * @throws ParameterException where a word is not understood
   */
  T parse(List<String> words) {
    T parsed = fresh.get();
    ParseResult result =
        new CommandLine(parsed)
            .setCaseInsensitiveEnumValuesAllowed(true)
            .setExpandAtFiles(false)
            .setAbbreviatedOptionsAllowed(false)
            .setOverwrittenOptionsAllowed(true)
            .parseArgs(words.toArray(String[]::new));
    Ranges.check(result);
    return parsed;
  }

  /** What is wrong with a value that stands alone; empty where nothing is. */
  Optional<String> problem(Argument argument) {
    try {
      check.accept(parse(List.of(argument.word())));
      return Optional.empty();
    } catch (ParameterException e) {
      return Optional.of(
          Ranges.sentence(e)
              .replaceFirst("^Invalid value for option '[^']*'( \\([^)]*\\))?: ", "")
              .replaceFirst("^--[a-z-]+ (?=.*: give a number)", ""));
    } catch (CommandException e) {
      return Optional.of(e.getMessage());
    }
  }

  /** Says that there is no such name, and which there are. */
  static String unknown(String what, String name, Collection<String> names) {
    List<String> near = NearNames.of(name, names, OFFERED_MAX);
    return "no such %s: '%s'; %s"
        .formatted(
            what,
            name,
            near.isEmpty()
                ? "there are " + String.join(", ", names)
                : "did you mean " + String.join(", ", near) + "?");
  }

  /** The class that declares the option. */
  static Class<?> owner(OptionSpec option) {
    return option.userObject() instanceof java.lang.reflect.Member member
        ? member.getDeclaringClass()
        : Object.class;
  }

  /** True where an option takes files of this machine. */
  static boolean takesPath(OptionSpec option) {
    return Arrays.asList(option.typeInfo().getAuxiliaryTypes()).contains(java.nio.file.Path.class)
        || option.type().equals(java.nio.file.Path.class);
  }
}
