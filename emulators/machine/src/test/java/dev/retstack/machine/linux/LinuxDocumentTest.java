package dev.retstack.machine.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** LINUX.md lists the system calls that there are, and no others. */
final class LinuxDocumentTest {
  /** A row of the table with three columns, the second in a group. */
  private static final Pattern ROW = Pattern.compile("\\|[^|]*\\|([^|]*)\\|[^|]*\\|");

  private static final String HEADING = "system";

  @Test
  void tableOfSystemCallsIsTrue() throws Exception {
    Path document =
        Path.of(System.getProperty("retstack.root"), "emulators", "machine", "LINUX.md");
    Set<String> listed =
        Files.readAllLines(document).stream()
            .map(ROW::matcher)
            .filter(Matcher::matches)
            .flatMap(row -> Pattern.compile(",").splitAsStream(row.group(1)))
            .map(name -> name.strip().replaceFirst(" .*", ""))
            .filter(name -> !name.equals(HEADING) && !name.startsWith("-"))
            .collect(Collectors.toCollection(TreeSet::new));
    Set<String> supported = new TreeSet<>();
    for (Isa isa : Isas.all()) {
      try (Guest guest = new Guest(isa.name())) {
        supported.addAll(guest.process.supported());
      }
    }
    // Answered by name, but only to say no.
    supported.remove("rseq");
    assertThat(listed).isEqualTo(supported);
  }
}
