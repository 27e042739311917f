package dev.retstack.answers.view;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.answers.table.Table.Hex;
import dev.retstack.answers.table.Table.Percent;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.coverage.FunctionCoverage;
import dev.retstack.graph.coverage.ImageCoverage;
import dev.retstack.graph.input.SessionNames;
import java.util.ArrayList;
import java.util.List;

/**
 * How many functions of each image, and of all, were entered; as text optionally those that were
 * not.
 */
public final class CoverageView {
  private static final Table<FunctionCoverage> FUNCTIONS =
      new Table<FunctionCoverage>()
          .text("function", FunctionCoverage::name)
          .text("address", row -> new Hex(row.address()))
          .number("calls", FunctionCoverage::calls)
          .onlyJson("source", row -> row.source().isKnown() ? row.source().text() : null);

  private static final Table<ImageCoverage> IMAGES =
      new Table<ImageCoverage>()
          .text("image", ImageCoverage::image)
          .text("buildId", ImageCoverage::imageId)
          .text("isa", ImageCoverage::isa)
          .number("cores", ImageCoverage::cores)
          .number("hit", ImageCoverage::hit)
          .number("functions", image -> image.functions().size())
          .number("percent", image -> ImageCoverage.percent(image.hit(), image.functions().size()))
          .rows("rows", FUNCTIONS, ImageCoverage::functions);

  /** A row of the text. */
  private record Sum(
      long hit, long functions, long cores, String isa, String image, String session) {}

  private static final Table<Sum> SUMS =
      new Table<Sum>()
          .number("hit", Sum::hit)
          .number("functions", Sum::functions)
          .number("covered", sum -> new Percent(ImageCoverage.percent(sum.hit(), sum.functions())))
          .number("cores", Sum::cores)
          .text("isa", Sum::isa)
          .text("image", Sum::image);

  private static final String SESSION = "session";

  private CoverageView() {}

  /**
   * The images, and their sum.
   *
   * @param missing whether text lists functions that were never entered
   */
  public static Document of(List<ImageCoverage> images, boolean missing) {
    List<Sum> sums = new ArrayList<>();
    for (ImageCoverage image : images) {
      sums.add(
          new Sum(
              image.hit(),
              image.functions().size(),
              image.cores(),
              image.isa(),
              image.image(),
              image.session()));
    }
    boolean apart = images.stream().anyMatch(image -> !image.session().isEmpty());
    long hit = sums.stream().mapToLong(Sum::hit).sum();
    long functions = sums.stream().mapToLong(Sum::functions).sum();
    if (images.size() > 1) {
      long cores =
          images.stream().filter(image -> !image.beside()).mapToLong(ImageCoverage::cores).sum();
      sums.add(new Sum(hit, functions, cores, "", "all", ""));
    }
    Table<ImageCoverage> table = apart ? IMAGES.last(SESSION, ImageCoverage::session) : IMAGES;
    Document document =
        new Document()
            .field("hit", hit)
            .field("functions", functions)
            .field("percent", ImageCoverage.percent(hit, functions))
            .rows("images", table, images)
            .csv(table, images)
            .text(apart ? SUMS.last(SESSION, Sum::session) : SUMS, sums);
    for (ImageCoverage image : missing ? images : List.<ImageCoverage>of()) {
      String name = new SessionNames(apart).name(image.image(), image.session());
      document.gap().line("# never entered in %s".formatted(name));
      for (FunctionCoverage function : image.functions()) {
        if (!function.hit()) {
          document.line("%s  %s".formatted(Units.hex(function.address()), function.name()));
        }
      }
    }
    return document;
  }
}
