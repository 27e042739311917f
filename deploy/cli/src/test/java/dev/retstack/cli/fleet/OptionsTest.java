package dev.retstack.cli.fleet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Table;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.Terminal;
import dev.retstack.cli.kafka.KafkaOptions;
import java.io.ByteArrayOutputStream;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;

class OptionsTest {
  @TempDir private Path dir;

  @Command
  private static final class WithKafka {
    @Mixin private KafkaOptions kafka;
  }

  @Command
  private static final class WithCodec {
    @Mixin private CodecOption codec;
  }

  @Test
  void codecIsTheStandardOneOrAnyThatIsKnown() {
    WithCodec command = new WithCodec();
    CommandLine line = new CommandLine(command);
    line.parseArgs();
    assertThat(command.codec.codec().id()).isEqualTo("packed");
    line.parseArgs("--codec", "records");
    assertThat(command.codec.codec().id()).isEqualTo("records");
    assertThatThrownBy(() -> line.parseArgs("--codec", "zip"))
        .hasMessageContaining("unknown codec 'zip': this version knows packed, records");
  }

  @Test
  void kafkaOptionWinsOverFileAndEnvironment() throws Exception {
    Path file =
        Files.writeString(
            dir.resolve("client.properties"), "security.protocol=SSL\nbootstrap.servers=file:1\n");
    Terminal terminal = terminal(Map.of(KafkaOptions.VARIABLE, "variable:1"));

    assertThat(kafka().bootstrap(terminal)).isEqualTo("variable:1");
    assertThat(kafka("--kafka-config", file.toString()).bootstrap(terminal)).isEqualTo("file:1");
    KafkaOptions all =
        kafka(
            "--kafka-config",
            file.toString(),
            "--bootstrap",
            "option:1",
            "--kafka",
            "client.id=me");
    assertThat(all.bootstrap(terminal)).isEqualTo("option:1");
    assertThat(all.security(terminal))
        .containsOnly(Map.entry("security.protocol", "SSL"), Map.entry("client.id", "me"));
  }

  @Test
  void kafkaIsTheLocalBrokerWhereNothingIsSaid() {
    Terminal terminal = terminal(Map.of(KafkaOptions.VARIABLE, ""));
    assertThat(kafka().isConfigured(terminal)).isFalse();
    assertThat(kafka().bootstrap(terminal)).isEqualTo(KafkaOptions.LOCAL);
  }

  @Test
  void settingsFileThatIsMissingIsNamed() {
    Path missing = dir.resolve("missing.properties");
    assertThatThrownBy(
            () -> kafka("--kafka-config", missing.toString()).bootstrap(terminal(Map.of())))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining(missing.toString());
  }

  @Test
  void imagesAreFilesOrNamesOfTheZoo() throws Exception {
    Path file = Files.writeString(dir.resolve("mine.elf"), "");
    assertThat(GuestImages.resolve(file.toString())).isEqualTo(file);
    assertThat(GuestImages.resolve("zoo-riscv64-mcount")).isRegularFile();
    assertThatThrownBy(() -> GuestImages.resolve("no-such"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("no-such");
    assertThatThrownBy(() -> GuestImages.resolve("zoo-x86_64-fentri"))
        .isInstanceOf(CommandException.class)
        .hasMessageContaining("zoo-x86_64-fentry");
  }

  @Test
  void coresShareAnOutputLineByLine() throws Exception {
    ByteArrayOutputStream shared = new ByteArrayOutputStream();
    OutputStream one = new LinePrefixStream(shared, "one: ");
    OutputStream two = new LinePrefixStream(shared, "two: ");
    one.write("hel".getBytes(StandardCharsets.UTF_8));
    two.write("a\nb".getBytes(StandardCharsets.UTF_8));
    one.write("lo\n".getBytes(StandardCharsets.UTF_8));
    two.flush();
    assertThat(shared.toString(StandardCharsets.UTF_8)).isEqualTo("two: a\none: hello\ntwo: b\n");
  }

  @Test
  void csvQuotesWhatNeedsIt() {
    Table<String> table = new Table<String>().text("a", _ -> "x,y").text("b", text -> text);
    assertThat(new Document().table("", table, List.of("say \"no\"")).as(Format.CSV))
        .isEqualTo("a,b\r\n\"x,y\",\"say \"\"no\"\"\"\r\n");
  }

  @Test
  void textIsAlignedWithoutTrailingSpaces() {
    Table<String> table =
        new Table<String>().text("name", text -> text).text("n", _ -> 1).headedAsNamed();
    assertThat(new Document().table("", table, List.of("longer")).as(Format.TEXT))
        .isEqualTo("name    n\nlonger  1\n");
  }

  private static KafkaOptions kafka(String... args) {
    WithKafka command = new WithKafka();
    new CommandLine(command).parseArgs(args);
    return command.kafka;
  }

  private static Terminal terminal(Map<String, String> environment) {
    PrintStream nowhere = new PrintStream(OutputStream.nullOutputStream());
    return new Terminal(nowhere, nowhere, false, environment);
  }
}
