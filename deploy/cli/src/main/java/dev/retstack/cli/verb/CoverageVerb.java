package dev.retstack.cli.verb;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.GuestImages;
import dev.retstack.cli.source.SourceOptions;
import dev.retstack.graph.aggregate.GraphLimits;
import dev.retstack.graph.coverage.CoverageBuilder;
import dev.retstack.graph.coverage.ImageCoverage;
import dev.retstack.service.export.CoverageLcov;
import dev.retstack.service.export.CoverageView;
import dev.retstack.service.reconstruct.ChunkApplier;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack coverage}: functions entered of those that have a call site. */
@Command(
    name = "coverage",
    description = {
      "Show how many of the functions with a call site were entered, per image and in all.",
      "The images named are shown alone, also where no core of the trace ran them.",
      "As lcov: a section per image, whose functions stand on lines of their rank by address."
    },
    footer = {
      "  retstack record --image zoo-riscv64-mcount -o cov.avro -- sort",
      "  retstack coverage cov.avro --missing",
      "  retstack coverage cov.avro zoo-aarch64-mcount zoo-riscv64-mcount --format lcov -o cov.info"
    })
public final class CoverageVerb extends Verb {
  /** Shapes of the answer. */
  enum Shape {
    TEXT,
    JSON,
    CSV,
    LCOV
  }

  @Parameters(index = "0", paramLabel = "TRACE", description = "A recorded trace.")
  private Path trace;

  @Parameters(
      index = "1..*",
      paramLabel = "IMAGE",
      description = "Only these: ELF programs, or images of the zoo by name.")
  private List<String> images = List.of();

  @Option(names = "--missing", description = "As text: list functions never entered, too.")
  private boolean missing;

  @Option(
      names = "--format",
      defaultValue = "text",
      paramLabel = "FORMAT",
      description = "text (default), json, csv or lcov.")
  private Shape shape;

  @Option(
      names = {"-o", "--output"},
      defaultValue = "-",
      paramLabel = "FILE",
      description = "File to write; - for standard output (default).")
  private Path output;

  @Override
  int run() throws IOException {
    CoverageBuilder coverage = new CoverageBuilder();
    Set<String> wanted = new TreeSet<>();
    for (String image : images) {
      var info = ChunkApplier.info(GuestImages.load(GuestImages.resolve(image)).toSchema());
      coverage.add(info);
      wanted.add(info.id());
    }
    coverage.add(
        SourceOptions.replay(trace, GraphLimits.DEFAULT.withTreeCallsPerCore(0), terminal()));
    List<ImageCoverage> all = new ArrayList<>(coverage.build());
    all.removeIf(image -> !wanted.isEmpty() && !wanted.contains(image.imageId()));
    if (all.stream().allMatch(image -> image.functions().isEmpty())) {
      throw CommandException.badInput(
          "no call sites known of the images of %s: name the images, which tell of them"
              .formatted(trace));
    }
    Output.to(
        output,
        out(),
        out -> {
          switch (shape) {
            case TEXT, JSON, CSV ->
                CoverageView.of(all, missing).write(Format.valueOf(shape.name()), out);
            case LCOV -> CoverageLcov.write(all, out);
          }
        });
    return ExitCode.OK;
  }
}
