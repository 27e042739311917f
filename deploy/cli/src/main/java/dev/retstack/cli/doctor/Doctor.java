package dev.retstack.cli.doctor;

import dev.retstack.cli.Terminal;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** All checks of this machine. */
public final class Doctor {
  private final Terminal terminal;

  public Doctor(Terminal terminal) {
    this.terminal = terminal;
  }

  /** Looks at everything but Kafka. */
  public List<Finding> checkMachine() {
    List<Finding> findings = new ArrayList<>(JvmChecks.run());
    findings.add(UnicornCheck.run());
    findings.add(ProbeCheck.run());
    findings.addAll(new MachineChecks(terminal).run());
    return findings;
  }

  /** Asks a Kafka cluster for a sign of life; takes some seconds where there is none. */
  public Finding checkKafka(String bootstrap, Map<String, String> security) {
    return BrokerCheck.run(bootstrap, security);
  }
}
