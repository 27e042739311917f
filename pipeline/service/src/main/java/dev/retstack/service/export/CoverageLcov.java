package dev.retstack.service.export;

import dev.retstack.graph.coverage.FunctionCoverage;
import dev.retstack.graph.coverage.ImageCoverage;
import java.io.IOException;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * Coverage as a tracefile of lcov (geninfo(1)): a section per image, records FN, FNDA, FNF, FNH.
 * The image stands where a source file would, and a function's line is its rank by address, since a
 * trace knows of neither. Of functions of one name the later ones bear their address.
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
    out.append("TN:\nSF:").append(image.image()).append('\n');
    StringBuilder data = new StringBuilder();
    StringBuilder lines = new StringBuilder();
    Set<String> names = new HashSet<>();
    int line = 0;
    for (FunctionCoverage function : image.functions()) {
      line++;
      String plain = function.name().replace(',', ';');
      String name = names.add(plain) ? plain : plain + "@" + Units.hex(function.address());
      out.append("FN:%d,%s\n".formatted(line, name));
      data.append("FNDA:%d,%s\n".formatted(function.calls(), name));
      lines.append("DA:%d,%d\n".formatted(line, function.calls()));
    }
    out.append(data);
    out.append("FNF:%d\nFNH:%d\n".formatted(image.functions().size(), image.hit()));
    out.append(lines);
    out.append("LF:%d\nLH:%d\n".formatted(image.functions().size(), image.hit()));
    out.append("end_of_record\n");
  }
}
