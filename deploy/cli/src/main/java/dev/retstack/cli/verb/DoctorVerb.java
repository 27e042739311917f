package dev.retstack.cli.verb;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.doctor.Doctor;
import dev.retstack.cli.doctor.Finding;
import dev.retstack.cli.kafka.KafkaOptions;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code retstack doctor}: what is there, what is missing, how to fix it. */
@Command(
    name = "doctor",
    description = {
      "Check this machine: what is there, what is missing, and how to fix it.",
      "The exit code is 4 if something is missing that retstack cannot do without."
    },
    footer = "  retstack doctor")
public final class DoctorVerb extends Verb {
  private static final Table<Finding> FINDINGS =
      new Table<Finding>()
          .text("subject", Finding::subject)
          .text("state", DoctorVerb::word)
          .text("detail", Finding::detail)
          .text("cure", Finding::cure);

  @Mixin private KafkaOptions kafka;
  @Mixin private FormatOption format;

  @Override
  protected int run() throws Exception {
    Doctor doctor = new Doctor(terminal());
    List<Finding> findings = doctor.checkMachine();
    if (kafka.isConfigured(terminal())) {
      findings.add(Doctor.checkKafka(kafka.bootstrap(terminal()), kafka.security(terminal())));
    }
    Document document =
        new Document().indented().rows("", FINDINGS, findings).csv(FINDINGS, findings);
    findings.forEach(finding -> addLines(finding, document));
    Output.write(out(), format.format(), document);
    boolean missing = findings.stream().anyMatch(f -> f.state() == Finding.State.MISSING);
    return missing ? ExitCode.ENVIRONMENT : ExitCode.OK;
  }

  private static void addLines(Finding finding, Document out) {
    out.line("%-7s  %-22s  %s".formatted(word(finding), finding.subject(), finding.detail()));
    if (!finding.cure().isEmpty()) {
      out.line("%-7s  %-22s  -> %s".formatted("", "", finding.cure()));
    }
  }

  private static String word(Finding finding) {
    return finding.state().name().toLowerCase(Locale.ROOT);
  }
}
