package dev.retstack.cli.verb;

import dev.retstack.cli.Benchmarks;
import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.BenchOptions;
import java.util.ServiceLoader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code retstack bench}: rates of each stage; ratios are of one run. */
@Command(
    name = "bench",
    description = {
      "Measure the stages of the path, medians over the rounds:",
      "  capture  tracing against the same image whose counting function returns at once",
      "  nops     a core whose sites are all switched off, against one without any (--twins)",
      "  tracers  function, entries only, against function_graph: time and bytes",
      "  path     packing, unpacking, reconstruction",
      "  replay   a stored trace, from the file to the whole report",
      "  live     emulation, Kafka, pipeline; a broker of ours unless one is named",
      "  control  from a command to the first record under it and to the last core's answer",
      "  state    what checkpoints of a big state cost, and how long a restart with it takes",
      "  accuracy how much is still told, and nothing wrong, when records or chunks are lost",
      "  peers    uftrace and qemu-user on the same program, where they are installed",
      "Times depend on the machine; ratios of one run hardly do."
    },
    footer = "  retstack bench --stage replay,peers --rounds 1 --calls 200000 --format json")
public final class BenchVerb extends Verb {
  @Mixin private BenchOptions options;

  @Override
  int run() throws Exception {
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
