package dev.retstack.service.export;

import dev.retstack.graph.coverage.FunctionCoverage;
import dev.retstack.graph.coverage.ImageCoverage;
import java.io.IOException;
import java.util.List;

/** How many functions of each image, and of all, were entered; on demand which were not. */
public final class CoverageText {
  private CoverageText() {}

  /**
   * Writes a table.
   *
   * @param missing whether functions that were never entered are listed
   */
  public static void write(List<ImageCoverage> images, boolean missing, Appendable out)
      throws IOException {
    TextTable table = new TextTable("HIT>", "FUNCTIONS>", "COVERED>", "CORES>", "ISA", "IMAGE");
    long hit = 0;
    long functions = 0;
    long cores = 0;
    for (ImageCoverage image : images) {
      row(table, image.hit(), image.functions().size(), image.cores(), image.isa(), image.image());
      hit += image.hit();
      functions += image.functions().size();
      cores += image.cores();
    }
    if (images.size() > 1) {
      row(table, hit, functions, cores, "", "all");
    }
    table.write(out);
    if (missing) {
      for (ImageCoverage image : images) {
        missing(image, out);
      }
    }
  }

  private static void row(
      TextTable table, long hit, long functions, long cores, String isa, String image) {
    table.row(
        String.valueOf(hit),
        String.valueOf(functions),
        Units.percent(ImageCoverage.percent(hit, functions)),
        String.valueOf(cores),
        isa,
        image);
  }

  private static void missing(ImageCoverage image, Appendable out) throws IOException {
    out.append('\n');
    Line.write(out, "# never entered in %s".formatted(image.image()));
    for (FunctionCoverage function : image.functions()) {
      if (!function.hit()) {
        Line.write(out, "%s  %s".formatted(Units.hex(function.address()), function.name()));
      }
    }
  }
}
