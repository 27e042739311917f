package dev.retstack.cli.verb;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleetfile.FleetFile;
import dev.retstack.cli.fleetfile.PlanTable;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code retstack fleet}: checks a fleet file and shows its cores. */
@Command(
    name = "fleet",
    description = {
      "Check a fleet file and show the cores that it describes; nothing runs.",
      "All problems are reported at once, each with file and line (exit code 2). The file"
          + " is HOCON:",
      "  prefix = lab, codec = packed   options of the whole fleet (retstack emulate)",
      "  defaults { clock = virtual }   options of cores: image, cores, isa, label,",
      "                                 arg, env, stdin, filter, tracer, start, ...",
      "  groups { edge { image = a.elf  cores edge-0 to edge-9; keys of a group win",
      "                  cores = 10 } } over the defaults",
      "A key is the name of an option without dashes; its value is the text on the"
          + " command line. Several texts are a list, KEY=VALUE options are objects, switches"
          + " are true or false. File names are relative to the fleet file. fleet.conf is the"
          + " example of the checkout: deploy/fleet.conf."
    },
    footer = {
      "  retstack fleet fleet.conf",
      "  retstack fleet fleet.conf --format json",
    })
public final class FleetVerb extends Verb {
  @Parameters(index = "0", paramLabel = "FILE", description = "The fleet file.")
  private String file;

  @Mixin private FormatOption format;

  @Override
  protected int run() throws IOException {
    FleetFile.Plan plan = FleetFile.read(file);
    Output.write(out(), format.format(), PlanTable.document(plan, terminal()));
    return ExitCode.OK;
  }
}
