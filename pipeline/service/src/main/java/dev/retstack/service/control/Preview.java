package dev.retstack.service.control;

import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.graph.symbol.SymbolTable;
import dev.retstack.schema.Image;
import dev.retstack.schema.Symbol;
import dev.retstack.schema.record.FunctionName;
import java.util.ArrayList;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * What a command would mean, if it were given now: which running cores it selects, and how many
 * functions of which images each of its patterns matches. Images are those that the cores run;
 * shared objects that they map are not counted.
 */
final class Preview {
  /** Images that are looked at. */
  static final int IMAGES_MAX = 64;

  /** Names of matching functions that a row shows. */
  private static final int EXAMPLES_MAX = 5;

  /**
   * An argument and an image.
   *
   * @param argument of the command; empty for all of them together
   * @param functions that match; -1 if that is unknown
   * @param all functions that can be traced
   */
  private record Row(
      String argument, Image image, int cores, int functions, int all, List<String> examples) {}

  /**
   * A call site.
   *
   * @param function where its function begins: an image may list several sites of one
   */
  private record Place(CommandRules.Site site, long function) {}

  private static final Table<Row> ROWS =
      new Table<Row>()
          .text("argument", Row::argument)
          .text("image", row -> row.image().getBuildId())
          .text("imageName", row -> row.image().getName())
          .text("isa", row -> row.image().getIsa())
          .number("cores", Row::cores)
          .number("functions", Row::functions)
          .number("functionsAll", Row::all)
          .text("examples", Row::examples);

  private final CommandRules rules;
  private final Function<String, Optional<Image>> images;

  /**
   * Previews.
   *
   * @param images by build-id; may wait
   */
  Preview(CommandRules rules, Function<String, Optional<Image>> images) {
    this.rules = rules;
    this.images = images;
  }

  /**
   * What a command would mean to these cores.
   *
   * @throws IllegalArgumentException if it makes no sense, with fact, value and cure
   */
  Document of(Collection<CoreProgress> all, String target, String name, List<String> arguments) {
    var _ = rules.command(target, name, arguments);
    CommandRules.Target wanted = rules.target(target);
    List<Optional<Predicate<CommandRules.Site>>> meant = rules.functions(name, arguments);
    Map<String, List<CoreProgress>> byImage = new LinkedHashMap<>();
    int running = 0;
    for (CoreProgress core : all) {
      if (!core.ended() && !core.isDead()) {
        running++;
        byImage.computeIfAbsent(core.image(), _ -> new ArrayList<>()).add(core);
      }
    }
    int selected = 0;
    List<String> unknown = new ArrayList<>();
    List<Row> rows = new ArrayList<>();
    for (Map.Entry<String, List<CoreProgress>> one :
        byImage.entrySet().stream().limit(IMAGES_MAX).toList()) {
      Optional<Image> image = images.apply(one.getKey());
      String file = image.map(Image::getName).orElse("");
      int cores =
          (int)
              one.getValue().stream()
                  .map(core -> new CommandRules.Core(core.key().core(), core.isa(), file))
                  .filter(wanted.test())
                  .count();
      selected += cores;
      if (image.isEmpty()) {
        unknown.add(one.getKey());
      } else if (cores > 0) {
        addRows(rows, image.get(), cores, arguments, meant);
      }
    }
    return new Document()
        .field("cores", selected)
        .field("running", running)
        .field("ignoresLabels", wanted.ignoresLabels())
        .field("imagesLeftOut", Math.max(0, byImage.size() - IMAGES_MAX))
        .field("imagesMissing", unknown)
        .rows("rows", ROWS, rows);
  }

  private static void addRows(
      List<Row> rows,
      Image image,
      int cores,
      List<String> arguments,
      List<Optional<Predicate<CommandRules.Site>>> meant) {
    List<Place> places = places(image);
    for (int i = 0; i < meant.size(); i++) {
      rows.add(row(arguments.get(i), image, cores, places, meant.get(i)));
    }
    if (meant.size() > 1) {
      Optional<Predicate<CommandRules.Site>> any =
          meant.stream()
              .reduce((a, b) -> a.flatMap(one -> b.map(one::or)))
              .orElse(Optional.empty());
      rows.add(row("", image, cores, places, any));
    }
  }

  private static Row row(
      String argument,
      Image image,
      int cores,
      List<Place> places,
      Optional<Predicate<CommandRules.Site>> meant) {
    int all = functions(places);
    if (meant.isEmpty()) {
      return new Row(argument, image, cores, -1, all, List.of());
    }
    List<Place> matched = places.stream().filter(place -> meant.get().test(place.site())).toList();
    List<String> examples =
        matched.stream()
            .map(place -> place.site().function().shown())
            .distinct()
            .limit(EXAMPLES_MAX)
            .toList();
    return new Row(argument, image, cores, functions(matched), all, examples);
  }

  private static int functions(List<Place> places) {
    return (int) places.stream().mapToLong(Place::function).distinct().count();
  }

  /** The call sites of an image; of one that lists none, its functions. */
  private static List<Place> places(Image image) {
    SymbolTable names = ChunkApplier.info(image).symbols();
    List<Long> sites =
        image.getMcountLoc().isEmpty()
            ? image.getSymbols().stream().map(Symbol::getAddress).toList()
            : image.getMcountLoc();
    List<Place> places = new ArrayList<>();
    for (long site : sites) {
      FunctionName function = names.covers(site) ? names.function(site) : FunctionName.NONE;
      places.add(
          new Place(new CommandRules.Site(function, site, image.getName()), names.start(site)));
    }
    return places;
  }
}
