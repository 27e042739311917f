package dev.retstack.cli.verb;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.kafka.KafkaLink;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.KafkaOptions;
import dev.retstack.cli.option.Tables;
import dev.retstack.service.replay.DeadLetters;
import dev.retstack.service.replay.DeadLetters.Letter;
import dev.retstack.service.table.Format;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import org.apache.kafka.clients.producer.RecordMetadata;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack dead-letters}: what the pipeline refused, and how to put it back. */
@Command(
    name = "dead-letters",
    description = {
      "Show the records that the pipeline refused, or put them back:",
      "  list                  one line each, newest last",
      "  show OFFSET...        all that is known of them, with their first bytes",
      "  re-inject OFFSET...   send them again as they were: key, value, headers; or --all",
      "OFFSET is the letter's in the dead-letters topic, as list shows it. The letters stay there.",
      "A chunk that was applied meanwhile is ignored when it comes again; one whose successors were",
      "applied already comes too late, and is ignored as well.",
      "Exit codes: 0 done, 3 no such letter, 4 Kafka does not answer or refuses."
    },
    footer = "  retstack dead-letters list --format csv")
public final class DeadLettersVerb extends Verb {
  private static final int BYTES_SHOWN = 256;
  private static final List<String> HEADER =
      List.of("OFFSET", "TIME", "FROM", "KEY", "BYTES", "REASON");

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

  @Option(names = "--all", description = "All letters (re-inject; with --reason: all of these).")
  private boolean all;

  @Option(
      names = "--reason",
      paramLabel = "TEXT",
      description = "Only letters whose reason holds this text.")
  private String reason;

  @Option(
      names = "--last",
      defaultValue = "1000",
      paramLabel = "N",
      description = "The newest N at most (list; default: ${DEFAULT-VALUE}).")
  private int last;

  @Option(
      names = "--into",
      paramLabel = "TOPIC",
      description = "Where to put them (re-inject; default: the topic they came from).")
  private String into;

  @Mixin private FormatOption format;
  @Mixin private KafkaOptions kafka;

  @Override
  int run() throws IOException, InterruptedException {
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
      throw usage("show what? give offsets, as list shows them");
    }
    if (what == What.RE_INJECT && offsets.isEmpty() == !all) {
      throw usage("re-inject what? give offsets, or --all, one of them");
    }
    if (what != What.RE_INJECT && (into != null || all)) {
      throw usage("--into and --all are of re-inject");
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
          "no dead letter %s in topic %s: \"%s dead-letters list\" shows those there are"
              .formatted(wanted.first(), link.topics().deadLetters(), command()));
    }
    return found;
  }

  private void list(Deque<Letter> found) throws IOException {
    List<List<String>> rows = found.stream().map(DeadLettersVerb::row).toList();
    switch (format.format()) {
      case TEXT -> Tables.text(out(), HEADER, rows);
      case CSV -> Tables.csv(out(), HEADER, rows);
      case JSON -> Tables.json(out(), json(found, false));
    }
  }

  private static List<String> row(Letter letter) {
    return List.of(
        String.valueOf(letter.offset()),
        time(letter),
        from(letter),
        readable(letter.key()),
        String.valueOf(letter.value().length),
        letter.letter().getReason());
  }

  private void show(Deque<Letter> found) throws IOException {
    if (format.format() == Format.CSV) {
      throw usage("show has no CSV: use text or json");
    }
    if (format.format() == Format.JSON) {
      Tables.json(out(), json(found, true));
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
    ArrayNode sent = Tables.JSON.createArrayNode();
    List<List<String>> rows = new ArrayList<>();
    for (Letter letter : letters) {
      if (letter.lacksRecord()) {
        note("letter %d has no record to put back: its reason says why".formatted(letter.offset()));
        continue;
      }
      String topic = into == null ? letter.letter().getTopic() : into;
      RecordMetadata where;
      try {
        where = DeadLetters.reinject(link.settings(), List.of(letter), topic).getFirst();
      } catch (IOException e) {
        throw CommandException.environment(
            "%s; %d letters before it were put back".formatted(e.getMessage(), rows.size()), e);
      }
      rows.add(
          List.of(
              String.valueOf(letter.offset()),
              where.topic(),
              String.valueOf(where.partition()),
              String.valueOf(where.offset())));
      sent.addObject()
          .put("offset", letter.offset())
          .put("topic", where.topic())
          .put("partition", where.partition())
          .put("at", where.offset());
    }
    List<String> header = List.of("OFFSET", "TOPIC", "PARTITION", "AT");
    switch (format.format()) {
      case TEXT -> Tables.text(out(), header, rows);
      case CSV -> Tables.csv(out(), header, rows);
      case JSON -> Tables.json(out(), sent);
    }
    note("%d letters put back".formatted(rows.size()));
  }

  private static ArrayNode json(Deque<Letter> found, boolean whole) {
    ArrayNode all = Tables.JSON.createArrayNode();
    for (Letter letter : found) {
      ObjectNode node =
          all.addObject()
              .put("offset", letter.offset())
              .put("topic", letter.letter().getTopic())
              .put("partition", letter.letter().getPartition())
              .put("at", letter.letter().getOffset())
              .put("timestamp", letter.letter().getTimestamp())
              .put("reason", letter.letter().getReason())
              .put("bytes", letter.value().length);
      if (whole) {
        ArrayNode headers =
            node.put("key", letter.key()).put("value", letter.value()).putArray("headers");
        letter
            .headers()
            .forEach(h -> headers.addObject().put("key", h.key()).put("value", h.value()));
      } else {
        node.put("key", readable(letter.key()));
      }
    }
    return all;
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
