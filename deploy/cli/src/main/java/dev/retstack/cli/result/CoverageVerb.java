package dev.retstack.cli.result;

import dev.retstack.answers.export.CoverageLcov;
import dev.retstack.answers.state.ChunkApplier;
import dev.retstack.answers.table.CutOff;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.view.CoverageView;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.graph.coverage.CoverageBuilder;
import dev.retstack.graph.coverage.ImageCoverage;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.state.GraphState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack coverage}: how many of the functions with a call site were entered. */
@Command(
    name = "coverage",
    description = {
      "Show how many of the functions with a call site were entered.",
      "The counts are per image and in all. If images are named, only those are shown,"
          + " even if no core of the trace ran them.",
      "With --format lcov each source file is a section, if the image was compiled with -g."
          + " Else the image is the section, and the line of a function is its rank by address."
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
      description = "Show only these: ELF programs, or images of the zoo by name.")
  private List<String> images = List.of();

  @Option(
      names = "--missing",
      description = "As text: also list the functions that were never entered.")
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

  @Option(
      names = "--session",
      paramLabel = "NAME",
      description = "Only what cores of this session entered.")
  private String session;

  @Option(
      names = "--sum-sessions",
      description = "Show what cores of any session entered (default: of each one separately).")
  private boolean sumSessions;

  @Mixin private SymbolOptions symbols;

  @Override
  protected int run() throws IOException {
    CoverageBuilder coverage = new CoverageBuilder();
    Set<String> wanted = new TreeSet<>();
    for (String image : images) {
      var info = ChunkApplier.info(GuestImages.load(GuestImages.resolve(image)).toSchema());
      coverage.add(info);
      wanted.add(info.id());
    }
    WindowOptions window = new WindowOptions().of(session);
    GraphState state =
        SourceOptions.replay(
            trace,
            new GraphState(GraphLimits.DEFAULT.withTreeCallsPerCore(0)),
            window.counted(),
            symbols,
            terminal());
    window.require(state);
    coverage.add(state).summed(sumSessions);
    if (shape == Shape.LCOV && !sumSessions && coverage.sessions() > 1) {
      throw CommandException.badInput(
          "the trace has %d sessions, and lcov knows none: give --session or --sum-sessions"
              .formatted(coverage.sessions()));
    }
    List<ImageCoverage> all = new ArrayList<>(coverage.build());
    all.removeIf(image -> !wanted.isEmpty() && !wanted.contains(image.imageId()));
    if (all.stream().allMatch(image -> image.functions().isEmpty())) {
      throw CommandException.badInput(
          "the call sites of the images of %s are not known: name the images".formatted(trace));
    }
    Output.to(
        output,
        out(),
        out -> {
          switch (shape) {
            case TEXT, JSON, CSV ->
                CutOff.ahead(state.isCut(), CoverageView.of(all, missing))
                    .write(Format.valueOf(shape.name()), out);
            case LCOV -> CoverageLcov.write(all, state.isCut(), out);
          }
        });
    return ExitCode.OK;
  }
}
