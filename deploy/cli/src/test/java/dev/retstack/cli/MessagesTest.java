package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FileTrouble;
import dev.retstack.cli.command.Ranges;
import dev.retstack.cli.command.Terminal;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.math.BigDecimal;
import java.nio.file.AccessDeniedException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Model.ArgSpec;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

/** What a verb refuses it refuses in one sentence: the fact, the value, and the cure. */
class MessagesTest {
  @TempDir private static Path dir;
  private static Path trace;

  @BeforeAll
  static void makeFiles() throws Exception {
    trace = dir.resolve("trace.avro");
    Ran.well("record", "--image", "zoo-x86_64-fentry", "-o", trace.toString(), "--", "sort");
    Files.createDirectory(dir.resolve("folder"));
    Files.createFile(dir.resolve("empty"));
    Files.writeString(dir.resolve("text"), "this is no trace, no image and no fleet {\n");
    byte[] whole = Files.readAllBytes(trace);
    Files.write(dir.resolve("head"), java.util.Arrays.copyOf(whole, 40));
    Path secret = Files.write(dir.resolve("secret"), whole);
    assertThat(secret.toFile().setReadable(false, false)).isTrue();
  }

  @Test
  void benchIsStartedFromACheckout() {
    Ran ran = Ran.retstack("bench", "--stage", "accuracy");
    assertThat(ran.code()).isEqualTo(ExitCode.ENVIRONMENT);
    assertThat(ran.err()).contains("not installed here: start ./retstack bench in a checkout");
    assertThat(Ran.retstack("bench", "--calls", "0").code()).isEqualTo(ExitCode.USAGE);
  }

  static Stream<List<String>> readers() {
    List<String> words =
        List.of(
            "report FILE",
            "graph FILE",
            "anomalies FILE",
            "cores FILE",
            "replay FILE",
            "hot FILE",
            "coverage FILE",
            "export FILE --format folded -o -",
            "sites FILE",
            "fleet FILE",
            "emulate --fleet FILE",
            "record -o OUT --fleet FILE",
            "record -o OUT --image FILE",
            "record -o OUT --image zoo-x86_64-fentry --filter @FILE",
            "emulate --image zoo-x86_64-fentry --kafka-config FILE",
            "report --live --http https://127.0.0.1:1 --http-token-file FILE",
            "report --live --http https://127.0.0.1:1 --http-ca FILE",
            "record -o OUT --image zoo-x86_64-fentry --stdin FILE");
    return words.stream().map(word -> List.of(word.split(" ")));
  }

  @ParameterizedTest
  @MethodSource("readers")
  void aFileThatCannotBeReadIsNamedWithACure(List<String> verb) {
    List<String> files = List.of("missing", "nowhere/missing", "folder", "empty", "text", "head");
    for (String file : files) {
      boolean harmless = // any text will do there
          verb.contains("--stdin") && !file.contains("missing") && !file.equals("folder");
      harmless |= verb.contains("@FILE") && List.of("empty", "text", "head").contains(file);
      harmless |= verb.contains("--kafka-config") && !file.contains("missing");
      if (!harmless) {
        refused(verb, dir.resolve(file), ExitCode.USAGE, ExitCode.BAD_INPUT);
      }
    }
  }

  @Test
  void aFileThatNobodyMayReadIsNamedWithACure() {
    Path secret = dir.resolve("secret");
    assumeTrue(!Files.isReadable(secret), "this user may read everything");
    readers().forEach(verb -> refused(verb, secret, ExitCode.USAGE, ExitCode.BAD_INPUT));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "record --image zoo-x86_64-fentry -o FILE",
        "record --image zoo-x86_64-fentry --cores 20 -o FILE",
        "export TRACE --format folded -o FILE",
        "export TRACE --format perfetto -o FILE",
        "coverage TRACE --format lcov -o FILE"
      })
  void aFileThatCannotBeWrittenIsNamedWithACure(String words) {
    List<String> verb = List.of(words.split(" "));
    refused(verb, dir.resolve("folder"), ExitCode.ENVIRONMENT);
    refused(verb, dir.resolve("nowhere").resolve("out"), ExitCode.ENVIRONMENT);
    Path full = Path.of("/dev/full");
    assumeTrue(Files.isWritable(full), "no device that is always full");
    assertThat(refused(verb, full, ExitCode.ENVIRONMENT)).contains("the disk is full");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"broker --dir FILE", "broker --dir FILE/in/it", "demo --dir FILE --cores 1"})
  void aFolderThatCannotBeUsedIsNamedWithACure(String words) {
    List<String> verb = List.of(words.split(" "));
    assertThat(refused(verb, dir.resolve("text"), ExitCode.ENVIRONMENT))
        .contains("cannot make ", "text is a file; ");
    Path nobodys = Path.of("/proc/retstack-messages-test");
    assumeTrue(Files.isDirectory(nobodys.getParent()), "no folder where nobody may write");
    assertThat(refused(verb, nobodys, ExitCode.ENVIRONMENT)).contains("cannot make ", "; ");
  }

  @Test
  void kafkaSettingsThatAreNoneAreNamedWithACure() throws IOException {
    Path settings = Files.writeString(dir.resolve("settings"), "linger.ms=\\u12xy\n");
    List<String> verb =
        List.of("emulate", "--image", "zoo-x86_64-fentry", "--kafka-config", "FILE");
    assertThat(refused(verb, settings, ExitCode.BAD_INPUT)).contains("write one key=value a line");
  }

  @ParameterizedTest
  @ValueSource(strings = {"fast", "0", "-1", "1e30", "1e-30"})
  void aTimeBetweenLinesOfProgressThatIsNoneIsNamedWithACure(String seconds) {
    Ran ran = Ran.with(Map.of("RETSTACK_PROGRESS", seconds), "report", trace.toString());
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err())
        .contains("RETSTACK_PROGRESS: seconds between lines of progress", "\"" + seconds + "\"");
  }

  @Test
  void noMessageHasTheNameOfAClass() {
    IOException plain = new IOException();
    assertThat(FileTrouble.words(plain)).isEqualTo("the system gave no reason");
    assertThat(FileTrouble.words(new UncheckedIOException(plain)))
        .isEqualTo("the system gave no reason");
    IOException denied = new AccessDeniedException("/x");
    assertThat(FileTrouble.words(new UncheckedIOException(denied))).isEqualTo("no permission");
    assertThat(FileTrouble.words(new IllegalStateException("no port", plain))).isEqualTo("no port");
  }

  /** Returns the one sentence. */
  private static String refused(List<String> verb, Path file, int... codes) {
    List<String> words = new ArrayList<>();
    for (String word : verb) {
      words.add(
          word.replace("FILE", file.toString())
              .replace("TRACE", trace.toString())
              .replace("OUT", dir.resolve("out.avro").toString()));
    }
    Ran ran = Ran.retstack(words.toArray(String[]::new));
    String what = String.join(" ", words) + "\n" + ran.err();
    assertThat(codes).as(what).contains(ran.code());
    assertThat(ran.err()).as(what).doesNotContain("Exception", "\tat ", "defect", "java.");
    String name = file.getFileName().toString();
    List<String> about = ran.err().lines().filter(line -> line.contains(name)).toList();
    assertThat(about).as(what).isNotEmpty();
    List<String> sentences = about.stream().filter(line -> !line.contains("next: ")).toList();
    assertThat(sentences.getFirst()).as(what).matches(".*(: |; |\\?).*");
    assertThat(ran.err().lines().filter(line -> line.contains("cannot write")).count())
        .as(what)
        .isLessThanOrEqualTo(1);
    return ran.err();
  }

  static Stream<String> verbs() {
    return Main.commandLine(Terminal.system()).getSubcommands().keySet().stream();
  }

  /** Every number has a range; what lies outside is refused before any work. */
  @ParameterizedTest
  @MethodSource("verbs")
  void absurdNumbersAreRefused(String verb) {
    CommandLine line = Main.commandLine(Terminal.system()).getSubcommands().get(verb);
    for (OptionSpec option : line.getCommandSpec().options()) {
      if (!Ranges.isNumber(option)) {
        continue;
      }
      assertThat(Ranges.bounds(option)).as("range of %s", option.longestName()).hasSize(2);
      BigDecimal least = Ranges.bounds(option).getFirst();
      BigDecimal most = Ranges.bounds(option).getLast();
      for (String value :
          List.of(
              least.subtract(BigDecimal.ONE).toPlainString(),
              most.add(BigDecimal.ONE).toPlainString(),
              "9223372036854775808")) {
        List<String> words = new ArrayList<>(List.of(verb));
        words.addAll(required(line.getCommandSpec(), option));
        words.add(option.longestName() + "=" + value);
        Ran ran = Ran.retstack(words.toArray(String[]::new));
        assertThat(ran.code()).as(words + "\n" + ran.err()).isEqualTo(ExitCode.USAGE);
        assertThat(ran.err())
            .as("%s", words)
            .contains(option.longestName())
            .containsPattern("give a number from|not a number of bytes");
      }
    }
  }

  private static List<String> required(CommandSpec spec, OptionSpec but) {
    List<String> words = new ArrayList<>();
    for (OptionSpec option : spec.options()) {
      if (option.required() && !option.equals(but)) {
        words.add(option.longestName() + "=" + some(option));
      }
    }
    spec.positionalParameters().stream()
        .filter(ArgSpec::required)
        .forEach(parameter -> words.add(some(parameter)));
    return words;
  }

  private static String some(ArgSpec argument) {
    Object[] choice = argument.type().getEnumConstants();
    return choice == null ? "some" : choice[0].toString();
  }

  @Test
  void aFleetThatIsTooBigIsRefusedBeforeItsCoresAreMade() {
    Ran ran =
        Ran.retstack(
            "record",
            "--image",
            "zoo-x86_64-fentry",
            "--image",
            "zoo-x86_64-mcount",
            "--cores",
            "60000",
            "-o",
            dir.resolve("big.avro").toString());
    assertThat(ran.code()).isEqualTo(ExitCode.USAGE);
    assertThat(ran.err()).contains("120,000 cores in all: a fleet has 100,000 at most");
    assertThat(dir.resolve("big.avro")).doesNotExist();
  }

  @ParameterizedTest
  @CsvSource({
    "record --imgae a.elf -o out,     no such option: --imgae; did you mean --image",
    "report trace.avro --from-kafka,  no such option: --from-kafka",
    "report one two,                  one word too many: two",
    "reprot trace.avro,               no such verb: reprot; did you mean report",
    "record --image=zoo-x86_64-fentyr -o out, no such image: zoo-x86_64-fentyr; did you mean zoo-x86_64-fentry",
    "record --image=nonsense -o out,  no such image: nonsense is neither a file nor one of the"
  })
  void whatIsMistypedIsNamedWithWhatIsNear(String words, String sentence) {
    Ran ran = Ran.retstack(words.split(" "));
    assertThat(ran.code()).isIn(ExitCode.USAGE, ExitCode.BAD_INPUT);
    assertThat(ran.err().lines().findFirst().orElseThrow())
        .contains(sentence)
        .doesNotContain("a.elf")
        .hasSizeLessThan(200);
  }
}
