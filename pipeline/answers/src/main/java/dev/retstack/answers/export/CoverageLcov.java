package dev.retstack.answers.export;

import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Line;
import dev.retstack.answers.table.Units;
import dev.retstack.graph.coverage.FunctionCoverage;
import dev.retstack.graph.coverage.ImageCoverage;
import dev.retstack.graph.limits.Saturating;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * Coverage as a tracefile of lcov (geninfo(1)): records FN, FNDA, FNF, FNH, and DA of the lines in
 * which functions begin. Each source file of an image is a section. Functions whose image has no
 * line for them make one more: there the image stands in the place of the file, and the rank of a
 * function by address in that of its line. If functions share a name, the later ones carry their
 * address.
 */
public final class CoverageLcov {
  private CoverageLcov() {}

  /** A function in its section. */
  private record Entry(int line, String name, long calls) {}

  /**
   * Writes the sections of each image.
   *
   * @param cut whether their trace was cut off: a comment says so first
   */
  public static void write(List<ImageCoverage> images, boolean cut, Appendable out)
      throws IOException {
    if (cut) {
      Line.write(out, CutOff.LINE);
    }
    for (ImageCoverage image : images) {
      Map<String, List<Entry>> files = new LinkedHashMap<>();
      List<Entry> ranked = new ArrayList<>();
      Set<String> names = new HashSet<>();
      for (FunctionCoverage function : image.functions()) {
        String plain = function.name().replace(',', ';');
        String name = names.add(plain) ? plain : plain + "@" + Units.hex(function.address());
        if (function.source().isKnown()) {
          files
              .computeIfAbsent(function.source().file(), _ -> new ArrayList<>())
              .add(new Entry(function.source().line(), name, function.calls()));
        } else {
          ranked.add(new Entry(ranked.size() + 1, name, function.calls()));
        }
      }
      if (!ranked.isEmpty() || files.isEmpty()) {
        section(image.image(), ranked, out);
      }
      for (Map.Entry<String, List<Entry>> file : files.entrySet()) {
        section(file.getKey(), file.getValue(), out);
      }
    }
  }

  private static void section(String source, List<Entry> functions, Appendable out)
      throws IOException {
    Line.write(out, "TN:");
    Line.write(out, "SF:%s".formatted(source));
    StringBuilder data = new StringBuilder();
    Map<Integer, Long> lines = new TreeMap<>(); // macros and templates make several of one line
    int hit = 0;
    for (Entry function : functions) {
      Line.write(out, "FN:%d,%s".formatted(function.line(), function.name()));
      Line.write(data, "FNDA:%d,%s".formatted(function.calls(), function.name()));
      lines.merge(function.line(), function.calls(), Saturating::sum);
      hit += function.calls() > 0 ? 1 : 0;
    }
    out.append(data);
    Line.write(out, "FNF:%d".formatted(functions.size()));
    Line.write(out, "FNH:%d".formatted(hit));
    for (Map.Entry<Integer, Long> line : lines.entrySet()) {
      Line.write(out, "DA:%d,%d".formatted(line.getKey(), line.getValue()));
    }
    Line.write(out, "LF:%d".formatted(lines.size()));
    long linesHit = lines.values().stream().filter(calls -> calls > 0).count();
    Line.write(out, "LH:%d".formatted(linesHit));
    Line.write(out, "end_of_record");
  }
}
