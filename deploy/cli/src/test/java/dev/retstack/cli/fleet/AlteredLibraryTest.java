package dev.retstack.cli.fleet;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.cli.ClassArchive;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.unicorn.Unicorn;
import dev.retstack.unicorn.library.UnicornVersion;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Assumptions;
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
          older   | record            | has no function uc_
          cached: code    | record           | is not the pinned libunicorn
          cached: symbols | record --isolate | is not the pinned libunicorn
          cached: cut     | demo             | is not the pinned libunicorn
          cached: older   | record           | is not the pinned libunicorn
          """)
  void theEnvironmentIsToBlame(String how, String verb, String message) throws Exception {
    boolean cached = how.startsWith("cached: ");
    Path cache = folder.resolve("retstack/unicorn-" + UnicornVersion.TESTED);
    Path library =
        cached
            ? Files.createDirectories(cache).resolve("libunicorn.so.2")
            : folder.resolve("libunicorn.so");
    byte[] whole = Files.readAllBytes(Unicorn.library().path());
    switch (how.replace("cached: ", "")) {
      case "cut" -> Files.write(library, Arrays.copyOf(whole, whole.length / 2));
      case "no ELF" -> Files.writeString(library, "INPUT ( libunicorn.so.2 )\n".repeat(9));
      case "older" -> older(library);
      case "code" -> Files.write(library, altered(whole, whole.length / 2));
      case "symbols" ->
          Files.write(library, altered(whole, text(whole).indexOf("\0uc_open\0") + 1));
      case "renamed" -> Files.write(library, renamed(whole, "\0uc_hook_add\0"));
      default -> assertThat(library).doesNotExist();
    }
    List<String> command =
        ClassArchive.java(cached ? "-Dretstack.libunicorn=" : "-Dretstack.libunicorn=" + library);
    command.add("dev.retstack.cli.Main");
    command.addAll(List.of(verb.replace("record", RECORD.strip()).split(" ", -1)));
    Path said = folder.resolve("said");
    ProcessBuilder builder = new ProcessBuilder(command);
    builder.environment().put("XDG_CACHE_HOME", folder.toString());
    builder.environment().remove("RETSTACK_LIBUNICORN");
    Process process =
        builder
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
    assertThat(text).contains(library.toString(), message).doesNotContain("defect", "-pg", "\tat ");
    assertThat(process.exitValue()).as(text).isEqualTo(ExitCode.ENVIRONMENT);
  }

  /** With another name for one function. */
  private static byte[] renamed(byte[] whole, String name) {
    return altered(whole, text(whole).indexOf(name) + 1);
  }

  private static byte[] altered(byte[] whole, int at) {
    assertThat(at).isPositive();
    byte[] altered = whole.clone();
    altered[at] = (byte) (altered[at] == 'x' ? 'y' : 'x');
    return altered;
  }

  private static String text(byte[] bytes) {
    return new String(bytes, ISO_8859_1);
  }

  /** A library that says that it is a version without what retstack calls. */
  private static void older(Path library) throws Exception {
    Path source = library.resolveSibling("older.c");
    Files.writeString(
        source, "unsigned uc_version(unsigned *a, unsigned *b) { return 0x02000100; }");
    Process compiler;
    try {
      compiler =
          new ProcessBuilder("cc", "-shared", "-o", library.toString(), source.toString())
              .inheritIO()
              .start();
    } catch (IOException e) {
      Assumptions.abort("skipped: no C compiler");
      return;
    }
    assertThat(compiler.waitFor()).isZero();
  }
}
