package dev.retstack.cli.fleet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.ClassArchive;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.unicorn.Unicorn;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A libunicorn that is not one is something that this machine lacks, and no fault of a program. */
final class AlteredLibraryTest {
  private static final String RECORD = "record --image zoo-x86_64-fentry -o t.avro ";

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          cut     | record            | is cut off: it has
          cut     | demo              | is cut off: it has
          no ELF  | record            | is no ELF file: it is no libunicorn
          renamed | record --isolate  | has no function uc_hook_add
          missing | record --isolate  | which is not a file
          """)
  void theEnvironmentIsToBlame(String how, String verb, String message) throws Exception {
    Path library = folder.resolve("libunicorn.so");
    byte[] whole = Files.readAllBytes(Unicorn.library().path());
    switch (how) {
      case "cut" -> Files.write(library, Arrays.copyOf(whole, whole.length / 2));
      case "no ELF" -> Files.writeString(library, "INPUT ( libunicorn.so.2 )\n".repeat(9));
      case "renamed" -> Files.write(library, renamed(whole, "\0uc_hook_add\0"));
      default -> assertThat(library).doesNotExist();
    }
    List<String> command = ClassArchive.java("-Dretstack.libunicorn=" + library);
    command.add("dev.retstack.cli.Main");
    command.addAll(List.of(verb.replace("record", RECORD.strip()).split(" ", -1)));
    Path said = folder.resolve("said");
    Process process =
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectErrorStream(true)
            .redirectOutput(said.toFile())
            .start();
    try {
      assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
    } finally {
      process.destroyForcibly();
    }
    String text = Files.readString(said, UTF_8);
    assertThat(text).contains(message).doesNotContain("defect", "-pg", "\tat ");
    assertThat(process.exitValue()).as(text).isEqualTo(ExitCode.ENVIRONMENT);
  }

  /** With another name for one function. */
  private static byte[] renamed(byte[] whole, String name) {
    String text = new String(whole, ISO_8859_1);
    int at = text.indexOf(name);
    assertThat(at).isPositive();
    byte[] renamed = whole.clone();
    renamed[at + 1] = 'x';
    return renamed;
  }
}
