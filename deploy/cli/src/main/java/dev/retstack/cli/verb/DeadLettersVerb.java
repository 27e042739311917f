package dev.retstack.cli.verb;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Format;
import dev.retstack.answers.table.Table;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.kafka.KafkaOptions;
import dev.retstack.graph.check.Count;
import dev.retstack.service.transfer.DeadLetters;
import dev.retstack.service.transfer.DeadLetters.Letter;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack dead-letters}: shows what the pipeline refused, and sends it again. */
@Command(
    name = "dead-letters",
    description = {
      "Show the records that the pipeline refused, or send them again.",
      "  list                 one line each, newest last",
      "  show OFFSET...       all that is known of them, with their first bytes",
      "  re-inject OFFSET...  send them again unchanged: key, value, headers; or --all",
      "OFFSET is the letter's place in the dead-letters topic, as list shows it. A letter"
          + " stays there when it is sent again.",
      "A chunk that was applied in the meantime is ignored. One that comes after its"
          + " successors is late, and gets another letter.",
      "Exit codes: 0 done, 3 no such letter, 4 Kafka does not answer or refuses."
    },
    footer = "  retstack dead-letters list --format csv")
public final class DeadLettersVerb extends Verb {
  private static final int BYTES_SHOWN = 256;

  private static final Table<Letter> LETTERS =
      new Table<Letter>()
          .text("offset", Letter::offset)
          .words("time", DeadLettersVerb::time)
          .words("from", DeadLettersVerb::from)
          .onlyJson("topic", letter -> letter.letter().getTopic())
          .onlyJson("partition", letter -> letter.letter().getPartition())
          .onlyJson("at", letter -> letter.letter().getOffset())
          .onlyJson("timestamp", letter -> letter.letter().getTimestamp())
          .text("bytes", letter -> letter.value().length)
          .text("reason", letter -> letter.letter().getReason());

  private static final Table<Letter> LIST =
      LETTERS
          .text("key", letter -> readable(letter.key()))
          .headed("OFFSET", "TIME", "FROM", "KEY", "BYTES", "REASON");

  private static final Table<Letter> WHOLE =
      LETTERS
          .onlyJson("key", Letter::key)
          .onlyJson("value", Letter::value)
          .rows(
              "headers",
              new Table<Header>()
                  .onlyJson("key", Header::key)
                  .onlyJson("value", header -> new Table.Shown(header.value(), "")),
              Letter::headers);

  private record Sent(Letter letter, RecordMetadata where) {}

  private static final Table<Sent> SENT =
      new Table<Sent>()
          .text("offset", sent -> sent.letter().offset())
          .text("topic", sent -> sent.where().topic())
          .text("partition", sent -> sent.where().partition())
          .text("at", sent -> sent.where().offset());

  private enum What {
    LIST("list"),
    SHOW("show"),
    RE_INJECT("re-inject");

    private final String word;

    What(String word) {
      this.word = word;
    }
  }

  @Parameters(index = "0", paramLabel = "COMMAND", description = "list, show or re-inject.")
  private String command;

  @Parameters(index = "1..*", arity = "0..*", paramLabel = "OFFSET", description = "Which letters.")
  private final List<Long> offsets = new ArrayList<>();

  @Option(names = "--all", description = "All letters, or with --reason all of these (re-inject).")
  private boolean all;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Only letters whose reason contains this text.")
  private String reason;

  @Option(
      names = "--last",
      defaultValue = "1000",
      paramLabel = "N",
      description = "At most the newest N (list; default: ${DEFAULT-VALUE}).")
  private int last;

  @Option(
      names = "--into",
      paramLabel = "TOPIC",
      description = "Topic to send them to (re-inject; default: the topic they came from).")
  private String into;

  @Mixin private FormatOption format;
  @Mixin private KafkaOptions kafka;

  @Override
  protected int run() throws IOException, InterruptedException {
    What what = what();
    check(what);
    KafkaLink link = kafka.link(terminal());
    link.ensureTopics();
    Deque<Letter> found = read(link, what);
    switch (what) {
      case LIST -> list(found);
      case SHOW -> show(found);
      case RE_INJECT -> reinject(link, List.copyOf(found));
    }
    return ExitCode.OK;
  }

  private What what() {
    for (What what : What.values()) {
      if (what.word.equals(command)) {
        return what;
      }
    }
    throw usage("no command '%s': use list, show or re-inject".formatted(command));
  }

  private void check(What what) {
    if (what == What.LIST && !offsets.isEmpty()) {
      throw usage("list takes no offsets: use show %s".formatted(offsets.getFirst()));
    }
    if (what == What.SHOW && offsets.isEmpty()) {
      throw usage("show needs letters: give offsets, as list shows them");
    }
    if (what == What.RE_INJECT && offsets.isEmpty() == !all) {
      throw usage("re-inject needs letters: give offsets or --all, not both");
    }
    if (what != What.RE_INJECT && (into != null || all)) {
      throw usage("--into and --all belong to re-inject");
    }
    if (last < 1) {
      throw usage("--last %d: use 1 or more".formatted(last));
    }
  }

  /** The letters meant; for a list the newest only, so that memory is bounded. */
  private Deque<Letter> read(KafkaLink link, What what) throws InterruptedException {
    TreeSet<Long> wanted = new TreeSet<>(offsets);
    Deque<Letter> found = new ArrayDeque<>();
    try {
      DeadLetters.read(
          link.settings(),
          link.topics(),
          letter -> {
            boolean named = offsets.isEmpty() || wanted.remove(letter.offset());
            if (named && (reason == null || letter.letter().getReason().contains(reason))) {
              found.add(letter);
            }
            if (what == What.LIST && found.size() > last) {
              found.removeFirst();
            }
          });
    } catch (IOException e) {
      throw CommandException.environment(e.getMessage(), e);
    }
    if (!wanted.isEmpty()) {
      throw CommandException.badInput(
          "no dead letter %s in topic %s: \"%s\" lists them"
              .formatted(
                  wanted.first(), link.topics().deadLetters(), command("dead-letters", "list")));
    }
    return found;
  }

  private void list(Deque<Letter> found) throws IOException {
    Output.write(
        out(), format.format(), new Document().indented().table("", LIST, List.copyOf(found)));
  }

  private void show(Deque<Letter> found) throws IOException {
    if (format.format() == Format.CSV) {
      throw usage("show has no CSV: use text or json");
    }
    if (format.format() == Format.JSON) {
      Output.write(
          out(), Format.JSON, new Document().indented().rows("", WHOLE, List.copyOf(found)));
      return;
    }
    for (Letter letter : found) {
      out().println("offset   " + letter.offset());
      out().println("from     " + from(letter));
      out().println("time     " + time(letter));
      out().println("reason   " + letter.letter().getReason());
      out().println("key      " + readable(letter.key()));
      letter
          .headers()
          .forEach(h -> out().println("header   " + h.key() + ": " + readable(h.value())));
      out().println("value    " + letter.value().length + " bytes");
      dump(letter.value());
      out().println();
    }
  }

  /** Sixteen bytes a line, as hex and as text. */
  private void dump(byte[] value) {
    for (int at = 0; at < Math.min(BYTES_SHOWN, value.length); at += 16) {
      int end = Math.min(at + 16, value.length);
      StringBuilder text = new StringBuilder();
      for (int i = at; i < end; i++) {
        text.append(value[i] >= ' ' && value[i] < 0x7f ? (char) value[i] : '.');
      }
      String hex = HexFormat.ofDelimiter(" ").formatHex(value, at, end);
      out().println("  %06x  %-47s  %s".formatted(at, hex, text));
    }
    if (value.length > BYTES_SHOWN) {
      out()
          .println(
              "  ... %d more bytes; --format json has all".formatted(value.length - BYTES_SHOWN));
    }
  }

  private void reinject(KafkaLink link, List<Letter> letters)
      throws IOException, InterruptedException {
    List<Sent> sent = new ArrayList<>();
    for (Letter letter : letters) {
      if (letter.lacksRecord()) {
        note(
            "letter %d has no record to send again: its reason says why"
                .formatted(letter.offset()));
        continue;
      }
      String topic = into == null ? letter.letter().getTopic() : into;
      try {
        sent.add(
            new Sent(
                letter, DeadLetters.reinject(link.settings(), List.of(letter), topic).getFirst()));
      } catch (IOException e) {
        throw CommandException.environment(
            "%s; %s sent again before it"
                .formatted(e.getMessage(), Count.of(sent.size(), "letter")),
            e);
      }
    }
    Output.write(out(), format.format(), new Document().indented().table("", SENT, sent));
    note(Count.of(sent.size(), "letter") + " sent again");
  }

  private static String from(Letter letter) {
    return "%s/%d@%d"
        .formatted(
            letter.letter().getTopic(),
            letter.letter().getPartition(),
            letter.letter().getOffset());
  }

  private static String time(Letter letter) {
    return Instant.ofEpochMilli(letter.letter().getTimestamp()).toString();
  }

  /** Text where it is text that a terminal bears, hex otherwise. */
  private static String readable(byte[] bytes) {
    if (bytes == null) {
      return "";
    }
    String text = new String(bytes, UTF_8);
    boolean plain = text.chars().allMatch(c -> c >= ' ' && c != 0x7f && c != 0xfffd);
    return plain ? text : "0x" + HexFormat.of().formatHex(bytes);
  }
}
