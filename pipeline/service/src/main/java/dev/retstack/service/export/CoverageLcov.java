package dev.retstack.service.export;

import dev.retstack.graph.coverage.FunctionCoverage;
import dev.retstack.graph.coverage.ImageCoverage;
import dev.retstack.service.table.Line;
import dev.retstack.service.table.Units;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Coverage as a tracefile of lcov (geninfo(1)): a section per image, records FN, FNDA, FNF, FNH. A
 * trace knows no source files. So the image is in the place of the source file, and a function's
 * line is its rank by address. If functions share a name, the later ones carry their address.
 */
public final class CoverageLcov {
  private CoverageLcov() {}

  /** Writes a section per image. */
  public static void write(List<ImageCoverage> images, Appendable out) throws IOException {
    for (ImageCoverage image : images) {
      section(image, out);
    }
  }

  private static void section(ImageCoverage image, Appendable out) throws IOException {
    Line.write(out, "TN:");
    Line.write(out, "SF:%s".formatted(image.image()));
    StringBuilder data = new StringBuilder();
    StringBuilder lines = new StringBuilder();
    Set<String> names = new HashSet<>();
    int line = 0;
    for (FunctionCoverage function : image.functions()) {
      line++;
      String plain = function.name().replace(',', ';');
      String name = names.add(plain) ? plain : plain + "@" + Units.hex(function.address());
      Line.write(out, "FN:%d,%s".formatted(line, name));
      Line.write(data, "FNDA:%d,%s".formatted(function.calls(), name));
      Line.write(lines, "DA:%d,%d".formatted(line, function.calls()));
    }
    out.append(data);
    Line.write(out, "FNF:%d".formatted(image.functions().size()));
    Line.write(out, "FNH:%d".formatted(image.hit()));
    out.append(lines);
    Line.write(out, "LF:%d".formatted(image.functions().size()));
    Line.write(out, "LH:%d".formatted(image.hit()));
    Line.write(out, "end_of_record");
  }
}
