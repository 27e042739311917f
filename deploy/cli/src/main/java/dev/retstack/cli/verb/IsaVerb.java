package dev.retstack.cli.verb;

import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.fleet.ProgressLine;
import dev.retstack.cli.isa.CapabilityTable;
import dev.retstack.cli.isa.ConformanceTable;
import dev.retstack.cli.isa.SystemCallTable;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.ProbeOption;
import dev.retstack.fleet.isa.Isa;
import dev.retstack.fleet.isa.Isas;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.zoo.Manifest;
import dev.retstack.fleet.zoo.Verification;
import dev.retstack.fleet.zoo.Zoo;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** {@code retstack isa}: the capability table, and the conformance suite live. */
@Command(
    name = "isa",
    description = {
      "Show what is traced: per ISA and calling convention of the counting function, which",
      "compiler flags make it, where the return address is, and what an exit is checked by.",
      "Or prove it on this machine: every program of the zoo in every image, check by check."
    },
    footer = {"  retstack isa --format json", "  retstack isa --verify riscv32"})
public final class IsaVerb extends Verb {
  private static final String ALL = "";

  @Option(
      names = "--verify",
      arity = "0..1",
      fallbackValue = ALL,
      paramLabel = "ISA",
      description = "Run the conformance suite, of one ISA or of all; exit code 1 where it fails.")
  private String verify;

  @Option(
      names = "--images",
      paramLabel = "DIR",
      description = {
        "With --verify: the images of a folder instead of those of the checkout, such as",
        "other optimisation levels: emulators/guest/build.sh --levels /tmp/levels s390x-fentry,",
        "then retstack isa --verify --images /tmp/levels"
      })
  private Path folder;

  @Option(
      names = "--system-calls",
      paramLabel = "ISA",
      description = "List the system calls of an ISA by name, as in --event syscalls:NAME.")
  private String systemCalls;

  @Mixin private ProbeOption probe;

  @Mixin private FormatOption format;

  @Override
  int run() throws IOException, InterruptedException {
    if (systemCalls != null) {
      return listSystemCalls();
    }
    if (verify != null) {
      return verify();
    }
    if (folder != null) {
      throw usage("--images " + folder + " goes with --verify: add --verify or --verify ISA");
    }
    CapabilityTable.write(format.format(), out());
    return ExitCode.OK;
  }

  private int listSystemCalls() throws IOException {
    Isa isa =
        Isas.find(systemCalls)
            .orElseThrow(
                () ->
                    usage(
                        "no such ISA: %s; choose one of %s".formatted(systemCalls, Isas.names())));
    SystemCallTable.write(isa, format.format(), out());
    return ExitCode.OK;
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
    ConformanceTable.write(rows, format.format(), out());
    int failed = rows.stream().mapToInt(row -> row.failed().size()).sum();
    int limited = rows.stream().mapToInt(row -> row.limited().size()).sum();
    note(
        "%,d cells on %d images, %,d failed%s, in %.1f s"
            .formatted(
                cells,
                rows.size(),
                failed,
                limited == 0 ? "" : ", %,d at a known limit".formatted(limited),
                (System.nanoTime() - start) / 1e9));
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
