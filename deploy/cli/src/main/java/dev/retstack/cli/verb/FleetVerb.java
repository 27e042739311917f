package dev.retstack.cli.verb;

import dev.retstack.cli.ExitCode;
import dev.retstack.cli.fleetfile.FleetFile;
import dev.retstack.cli.fleetfile.FleetPlan;
import dev.retstack.cli.fleetfile.PlanTable;
import dev.retstack.cli.option.FormatOption;
import java.io.IOException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;

/** {@code retstack fleet}: checks a fleet file and shows what it comes to. */
@Command(
    name = "fleet",
    description = {
      "Check a fleet file and show the cores that it describes; nothing runs. What is wrong is told",
      "at once, each with file and line (exit code 2). The file is HOCON:",
      "  prefix = lab, codec = packed        options of \"retstack emulate\" for the fleet as a whole",
      "  defaults { clock = virtual }         options of cores: image, cores, isa, label, arg, env,",
      "                                       stdin, filter, tracer, max-instructions, start, ...",
      "  groups { edge { image = a.elf        cores edge-0 to edge-9; their keys win over defaults",
      "                  cores = 10 } }",
      "A key is the option's name without dashes, its text that of the command line; several texts",
      "are a list, KEY=VALUE options are objects, switches are true or false. Files are relative to",
      "the file. fleet.conf is the example that comes along: deploy/fleet.conf."
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
  int run() throws IOException {
    FleetPlan plan = FleetFile.read(file);
    PlanTable.write(plan, format.format(), terminal());
    return ExitCode.OK;
  }
}
