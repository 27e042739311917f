package dev.retstack.cli.fleetfile;

import com.typesafe.config.ConfigOrigin;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.fleet.CoreGroup;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.cli.fleet.ProgramOptions;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.Glob;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import picocli.CommandLine.ParameterException;

/** Makes groups of cores from words, and checks them against their images. */
final class GroupReader {
  /** A function pattern or the name of an event, as it stands in a value. */
  private record Named(Argument argument, Object name) {}

  private final OptionKeys<ProgramOptions> keys;
  private final Problems problems;
  private final Map<String, Optional<LoadedImage>> images = new HashMap<>();
  private final Map<LoadedImage, SiteCatalog> catalogs = new HashMap<>();
  private final Map<LoadedImage, SiteCatalog> withLibraries = new HashMap<>();

  /** Why a name means nothing in the groups so far; empty where it means something in one. */
  private final Map<Named, Optional<String>> found = new LinkedHashMap<>();

  GroupReader(OptionKeys<ProgramOptions> keys, Problems problems) {
    this.keys = keys;
    this.problems = problems;
  }

  /** The group; empty where something is wrong with it, which is noted. */
  Optional<CoreGroup> read(String name, ConfigOrigin place, List<Argument> arguments) {
    List<LoadedImage> loaded = new ArrayList<>();
    for (Argument argument : arguments) {
      if (argument.key().equals(ArgumentReader.IMAGE)) {
        load(argument).ifPresent(loaded::add);
      }
    }
    if (arguments.stream().noneMatch(a -> a.key().equals(ArgumentReader.IMAGE))) {
      problems.add(place, "group %s has no image: write image = FILE".formatted(name));
    }
    boolean libraries =
        arguments.stream().anyMatch(a -> parse(a).map(ProgramOptions::libraryCalls).orElse(false));
    List<SiteCatalog> sites = loaded.stream().map(image -> sites(image, libraries)).toList();
    for (Argument argument : arguments) {
      loaded.forEach(image -> check(argument, image));
      if (!loaded.isEmpty()) {
        match(argument, sites);
      }
    }
    if (!problems.isEmpty()) {
      return Optional.empty();
    }
    try {
      ProgramOptions program = keys.parse(arguments.stream().map(Argument::word).toList());
      program.check();
      return Optional.of(program.group(Optional.of(name), loaded));
    } catch (ParameterException | CommandException e) {
      problems.add(place, "group %s: %s".formatted(name, e.getMessage()));
      return Optional.empty();
    }
  }

  private Optional<LoadedImage> load(Argument argument) {
    return images.computeIfAbsent(
        argument.text(),
        named -> {
          try {
            LoadedImage image = GuestImages.load(GuestImages.resolve(named));
            image.requireCallSites();
            return Optional.of(image);
          } catch (CommandException | ElfFormatException e) {
            problems.add(argument, e.getMessage());
            return Optional.empty();
          }
        });
  }

  /** An ISA or an entry that is not the image's. */
  private void check(Argument argument, LoadedImage image) {
    parse(argument)
        .ifPresent(
            program -> {
              try {
                program.check(image);
              } catch (ElfFormatException e) {
                problems.add(argument, e.getMessage());
              }
            });
  }

  /** What a word alone says; empty where that is nothing, which was noted before. */
  private Optional<ProgramOptions> parse(Argument argument) {
    if (keys.problem(argument).isPresent()) {
      return Optional.empty();
    }
    return Optional.of(keys.parse(List.of(argument.word())));
  }

  private SiteCatalog sites(LoadedImage image, boolean libraries) {
    return libraries
        ? withLibraries.computeIfAbsent(image, SiteCatalog::withLibraryCalls)
        : catalogs.computeIfAbsent(image, SiteCatalog::of);
  }

  private void match(Argument argument, List<SiteCatalog> sites) {
    TraceSettings settings =
        parse(argument).map(ProgramOptions::trace).orElse(TraceSettings.standard());
    for (Setting setting : Setting.values()) {
      for (FunctionPattern pattern : setting.patterns(settings)) {
        boolean here = sites.stream().anyMatch(catalog -> catalog.has(pattern));
        note(argument, pattern, here ? "" : sites.getFirst().whyNone(pattern));
      }
      for (Glob event : setting.events(settings)) {
        boolean here = sites.stream().anyMatch(catalog -> catalog.hasEvent(event));
        note(argument, event, here ? "" : sites.getFirst().whyNoEvent(event));
      }
    }
  }

  private void note(Argument argument, Object name, String why) {
    found.merge(
        new Named(argument, name),
        Optional.of(why).filter(sentence -> !sentence.isEmpty()),
        (before, now) -> before.isEmpty() ? before : now);
  }

  /** At the end: names that mean nothing in any core, which a misprint may be. */
  void noteUnmatched() {
    found.forEach(
        (named, why) -> why.ifPresent(sentence -> problems.add(named.argument(), sentence)));
  }
}
