package dev.retstack.cli.bench;

import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.Verb;
import java.util.ServiceLoader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code retstack bench}: the rate of each stage, and ratios within one run. */
@Command(
    name = "bench",
    description = {
      "Measure the stages of the path; each figure is the median of the rounds.",
      "  capture   a traced run against one whose counting function returns at once",
      "  path      packing, unpacking, reconstruction",
      "  replay    a stored trace, from the file to the whole report",
      "  pyramid   a pyramid of a trace: made, and asked for windows",
      "  live      emulation, Kafka, pipeline; starts a broker unless one is named",
      "  state     what checkpoints of a big state cost, and a restart with it",
      "  accuracy  how much is still reported, and that nothing is wrong, after losses",
      "  peers     uftrace and qemu-user on the same program, if they are installed",
      "Times depend on the machine. Ratios within one run depend on it much less."
    },
    footer = "  retstack bench --stage replay,peers --rounds 1 --calls 200000 --format json")
public final class BenchVerb extends Verb {
  @Mixin private BenchOptions options;

  @Override
  protected int run() throws Exception {
    if (options.rounds() < 1
        || options.calls() < 1
        || options.cores().stream().anyMatch(count -> count < 1)) {
      throw usage(
          "--rounds %d, --calls %d, --cores %s: each at least 1"
              .formatted(options.rounds(), options.calls(), options.cores()));
    }
    Benchmarks benchmarks =
        ServiceLoader.load(Benchmarks.class)
            .findFirst()
            .orElseThrow(
                () ->
                    CommandException.environment(
                        "the benchmarks are not installed here: start ./retstack bench in a checkout"));
    benchmarks.run(options, terminal());
    return ExitCode.OK;
  }
}
