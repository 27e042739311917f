package dev.retstack.cli.fleetfile;

import com.typesafe.config.ConfigException;
import com.typesafe.config.ConfigFactory;
import com.typesafe.config.ConfigObject;
import com.typesafe.config.ConfigParseOptions;
import com.typesafe.config.ConfigSyntax;
import dev.retstack.cli.CommandException;
import dev.retstack.cli.FileTrouble;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;

/** Reads HOCON. What is none is told by its first mistake: behind it nothing has a meaning. */
final class Hocon {
  private Hocon() {}

  /**
   * The file with its includes and substitutions, which also know the environment: {@code
   * ${?HOME}}.
   *
   * @throws CommandException with file and line
   */
  static ConfigObject read(Path file) {
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
        throw CommandException.usage("%s: no HOCON: %s".formatted(file, e.getMessage()));
      }
      problems.add(e.origin(), "no HOCON: " + withoutPlace(e));
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
        " \\(if you intended .*", "; a text that holds such signs stands in double quotes");
  }
}
