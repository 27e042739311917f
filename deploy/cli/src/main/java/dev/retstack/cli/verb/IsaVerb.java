package dev.retstack.cli.verb;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.ProgressLine;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.ProbeOption;
import dev.retstack.cli.isa.CapabilityTable;
import dev.retstack.cli.isa.ConformanceTable;
import dev.retstack.fleet.zoo.Manifest;
import dev.retstack.fleet.zoo.Verification;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.graph.check.Count;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.linux.SystemCallNames;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack isa}: the capability table, and a run of the conformance suite. */
@Command(
    name = "isa",
    description = {
      "Show what is traced, or prove it on this machine.",
      "There is one row per ISA and calling convention of the counting function: which"
          + " compiler flags make it, where the return address is, and what an exit is checked"
          + " by.",
      "With --verify it runs every program of the zoo in every image, check by check."
    },
    footer = {"  retstack isa --format json", "  retstack isa --verify sparc"})
public final class IsaVerb extends Verb {
  private static final String ALL = "";

  @Option(
      names = "--verify",
      arity = "0..1",
      fallbackValue = ALL,
      paramLabel = "ISA",
      description =
          "Run the conformance suite, of one ISA or of all. The exit code is 1 if a check"
              + " fails.")
  private String verify;

  @Option(
      names = "--images",
      paramLabel = "DIR",
      description =
          "With --verify: take the images of this folder instead of those of the checkout,"
              + " such as other optimisation levels. They are made by emulators/guest/build.sh"
              + " --levels /tmp/levels s390x-fentry.")
  private Path folder;

  @Option(
      names = "--system-calls",
      paramLabel = "ISA",
      description = "List the system calls of an ISA by name, as in --event syscalls:NAME.")
  private String systemCalls;

  @Mixin private ProbeOption probe;

  @Mixin private FormatOption format;

  @Override
  protected int run() throws IOException, InterruptedException {
    if (systemCalls != null) {
      return listSystemCalls();
    }
    if (verify != null) {
      return verify();
    }
    if (folder != null) {
      throw usage("--images " + folder + " goes with --verify: add --verify or --verify ISA");
    }
    Output.write(out(), format.format(), CapabilityTable.document());
    return ExitCode.OK;
  }

  private int listSystemCalls() throws IOException {
    Isa isa =
        Isas.find(systemCalls)
            .orElseThrow(
                () ->
                    usage(
                        "no such ISA: %s; choose one of %s".formatted(systemCalls, Isas.names())));
    Output.write(out(), format.format(), systemCalls(isa));
    return ExitCode.OK;
  }

  /** The system calls that events can name, a row each. */
  private static Document systemCalls(Isa isa) {
    SystemCallNames names = isa.syscalls().names();
    return new Document()
        .indented()
        .table(
            "",
            new Table<String>()
                .text("name", name -> name)
                .text("number", names::number)
                .headedAsNamed(),
            List.copyOf(names.names()));
  }

  private int verify() throws IOException, InterruptedException {
    if (!verify.equals(ALL) && Isas.find(verify).isEmpty()) {
      throw usage("no such ISA: %s; choose one of %s".formatted(verify, Isas.names()));
    }
    if (!Zoo.isHere()) {
      throw CommandException.environment("no images of the zoo here: start with ./retstack");
    }
    List<LoadedImage> images = images();
    int cells = Verification.cells(images);
    long start = System.nanoTime();
    List<Verification.Row> rows = new ArrayList<>();
    try (ProgressLine line = new ProgressLine(terminal())) {
      Verification.run(
          images,
          probe.probe(),
          Runtime.getRuntime().availableProcessors(),
          done -> line.show("%,d of %,d cells done".formatted(done, cells)),
          rows::add);
    }
    Output.write(out(), format.format(), ConformanceTable.document(rows));
    int failed = rows.stream().mapToInt(row -> row.failed().size()).sum();
    double seconds = (System.nanoTime() - start) / 1e9;
    note(
        "%s on %s, %,d failed, in %.1f s"
            .formatted(
                Count.grouped(cells, "cell"), Count.of(rows.size(), "image"), failed, seconds));
    return failed == 0 ? ExitCode.OK : ExitCode.FINDINGS;
  }

  private List<LoadedImage> images() {
    try {
      Manifest manifest = folder == null ? Zoo.committed() : Manifest.of(folder);
      List<LoadedImage> images = Zoo.images(manifest, verify);
      if (images.isEmpty()) {
        throw CommandException.badInput(
            "no image of %s in %s; it has images of %s"
                .formatted(verify, manifest.folder(), manifest.isas()));
      }
      return images;
    } catch (IOException e) {
      throw CommandException.badInput(e.getMessage(), e);
    }
  }
}
