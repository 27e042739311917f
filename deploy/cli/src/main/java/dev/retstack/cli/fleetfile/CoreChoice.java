package dev.retstack.cli.fleetfile;

import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.fleet.CoreSpecs;
import dev.retstack.cli.fleet.ProgramOptions;
import dev.retstack.cli.fleet.RunOptions;
import dev.retstack.fleet.plan.CoreSpec;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;

/** Which cores run, and how: from options, or from a fleet file. */
public final class CoreChoice {
  @Option(
      names = "--fleet",
      paramLabel = "FILE",
      description =
          "Run the cores of a fleet file, see \"retstack fleet --help\". fleet.conf is the"
              + " example of the checkout. Options of the whole fleet win over the file; options of"
              + " cores stand in the file.")
  private String fleet;

  @Mixin private ProgramOptions program;

  @Mixin private RunOptions run;

  /**
   * What the user chose.
   *
   * @param cores to run
   * @param run how the fleet as a whole runs
   */
  public record Chosen(List<CoreSpec> cores, RunOptions run) {
    public Chosen {
      cores = List.copyOf(cores);
    }
  }

  /** True where the user named an image or a file. */
  public boolean isMade() {
    return fleet != null || !program.images().isEmpty();
  }

  /** How the fleet runs as far as the command line says, for what needs no cores. */
  public RunOptions run() {
    return run;
  }

  /**
   * The cores.
   *
   * @param command whose options these are
   * @throws ParameterException where options of cores stand beside a file
   */
  public Chosen choose(CommandSpec command, Terminal terminal) {
    if (fleet == null) {
      run.check();
      return new Chosen(CoreSpecs.of(program, terminal), run);
    }
    List<OptionSpec> given = command.commandLine().getParseResult().matchedOptions();
    refuseBeside(command, given);
    FleetFile.Plan plan = FleetFile.read(fleet);
    List<String> words = new ArrayList<>(plan.words());
    for (OptionSpec option : given) {
      FleetFile.OF_FLEET.find(OptionKeys.key(option)).ifPresent(_ -> words.addAll(words(option)));
    }
    RunOptions both = FleetFile.OF_FLEET.parse(words);
    both.check();
    return new Chosen(CoreSpecs.of(plan.groups(), terminal), both);
  }

  /** Which group would it be for? The file can say that, the command line cannot. */
  private void refuseBeside(CommandSpec command, List<OptionSpec> given) {
    for (OptionSpec option : given) {
      if (FleetFile.OF_CORES.find(OptionKeys.key(option)).isPresent()) {
        throw new ParameterException(
            command.commandLine(),
            "%s cannot be used with --fleet: write %s = ... in the file, in defaults or in a group"
                .formatted(option.longestName(), OptionKeys.key(option)));
      }
    }
    if (!program.rest().isEmpty()) {
      throw new ParameterException(
          command.commandLine(),
          "'%s' cannot be used with --fleet: write arg = [...] in the file"
              .formatted(String.join(" ", program.rest())));
    }
  }

  private static List<String> words(OptionSpec option) {
    if (OptionKeys.isSwitch(option)) {
      boolean on = option.getValue();
      return List.of(on ? option.longestName() : "--no-" + OptionKeys.key(option));
    }
    return option.originalStringValues().stream()
        .map(text -> option.longestName() + "=" + text)
        .toList();
  }
}
