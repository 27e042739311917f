package dev.retstack.cli.verb;

import com.fasterxml.jackson.databind.node.ArrayNode;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.doctor.Doctor;
import dev.retstack.cli.doctor.Finding;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.cli.option.Tables;
import java.util.List;
import java.util.Locale;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

/** {@code retstack doctor}: what is there, what is missing, how to mend it. */
@Command(
    name = "doctor",
    description = {
      "Look at this machine: what is there, what is missing, how to mend it.",
      "Exit code 4 where something is missing that retstack cannot do without."
    },
    footer = "  retstack doctor")
public final class DoctorVerb extends Verb {
  @Mixin private KafkaOptions kafka;
  @Mixin private FormatOption format;

  @Override
  int run() throws Exception {
    Doctor doctor = new Doctor(terminal());
    List<Finding> findings = doctor.checkMachine();
    if (kafka.isConfigured(terminal())) {
      findings.add(doctor.checkKafka(kafka.bootstrap(terminal()), kafka.security(terminal())));
    }
    switch (format.format()) {
      case TEXT -> findings.forEach(this::print);
      case JSON -> printJson(findings);
      case CSV ->
          Tables.csv(
              out(),
              List.of("subject", "state", "detail", "cure"),
              findings.stream()
                  .map(f -> List.of(f.subject(), word(f), f.detail(), f.cure()))
                  .toList());
    }
    boolean missing = findings.stream().anyMatch(f -> f.state() == Finding.State.MISSING);
    return missing ? ExitCode.ENVIRONMENT : ExitCode.OK;
  }

  private void print(Finding finding) {
    out().printf("%-7s  %-22s  %s%n", word(finding), finding.subject(), finding.detail());
    if (!finding.cure().isEmpty()) {
      out().printf("%-7s  %-22s  -> %s%n", "", "", finding.cure());
    }
  }

  private void printJson(List<Finding> findings) throws Exception {
    ArrayNode all = Tables.JSON.createArrayNode();
    for (Finding finding : findings) {
      all.addObject()
          .put("subject", finding.subject())
          .put("state", word(finding))
          .put("detail", finding.detail())
          .put("cure", finding.cure());
    }
    Tables.json(out(), all);
  }

  private static String word(Finding finding) {
    return finding.state().name().toLowerCase(Locale.ROOT);
  }
}
