package dev.retstack.fleet.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.settings.Order;
import dev.retstack.fleet.settings.PatternSubject;
import dev.retstack.fleet.settings.Ruling;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.schema.Control;
import dev.retstack.testing.Seeds;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/**
 * Whatever stands in a command: it is understood or refused, in a sentence that an answer can hold.
 * {@code -Dretstack.commands=N} tries N of them, {@code -Dretstack.seed} those of one seed.
 */
class ForgedCommandsTest {
  private static final int COMMANDS = Integer.getInteger("retstack.commands", 5_000);
  private static final int MESSAGE_MAX = 20_000;
  private static final Instant NOW = Instant.ofEpochMilli(1_795_343_400_000L);

  private static final CoreIdentity CORE =
      new CoreIdentity("core-0", "arm", "fw.elf", Map.of("rack", "7"));

  private static final SiteCatalog SITES =
      SiteCatalog.of(
          "fw.elf",
          List.of(
              new PatternSubject("main", 0x1000, ".text", "fw.elf"),
              new PatternSubject("vfs_read", Long.MIN_VALUE, ".init", "fw.elf")),
          "arm",
          List.of("write", "read"));

  private static final String[] PLAIN = {"on", "off", "reset", "snapshot", "status", "", "On"};

  /** Of which texts are put together. */
  private static final String[] PIECES = {
    "",
    "main",
    "vfs_*",
    "*",
    "?",
    "[",
    "]",
    "[]]",
    "[!",
    "[z-a]",
    "[a-z]",
    "/",
    "//",
    "/(/",
    "/a{9}/",
    "/(a{1000}){1000}/",
    "/(((a{100}){100}){100}){100}/",
    "{1000}",
    "(",
    ")*",
    "\\",
    "\\Q",
    "\\pL",
    "|",
    "0x",
    "0xffffffffffffffff",
    "0x8000-0x1",
    "-",
    "section:",
    "image:",
    ":",
    ":traceoff",
    ":enable_event",
    ":syscalls",
    ":5",
    ":-1",
    ":99999999999",
    "@",
    "@arg1",
    "@arg9",
    ",",
    "/x",
    "/q",
    "syscalls",
    "syscalls:",
    "9223372036854775808",
    "-1",
    "1",
    "2147483648",
    "function",
    "nop",
    " ",
    "\n",
    "\u0000",
    "\ud800",
    "\udbff\udfff",
    "all",
    "core=",
    "isa=arm",
    "label=rack:7",
    "label.rack=7",
    "label.=",
    "=",
    "\u202e",
    "%s%n%d"
  };

  private static String text(SplittableRandom random) {
    if (random.nextInt(200) == 0) {
      return PIECES[random.nextInt(PIECES.length)].repeat(random.nextInt(5_000));
    }
    StringBuilder text = new StringBuilder();
    for (int pieces = random.nextInt(4); pieces >= 0; pieces--) {
      text.append(
          random.nextInt(8) == 0
              ? String.valueOf((char) random.nextInt(Character.MAX_VALUE + 1))
              : PIECES[random.nextInt(PIECES.length)]);
    }
    return text.toString();
  }

  private static Control control(SplittableRandom random) {
    Setting[] settings = Setting.values();
    boolean sets = random.nextInt(4) > 0;
    List<String> arguments = new ArrayList<>();
    for (int i = random.nextInt(4); i > 0; i--) {
      arguments.add(text(random));
    }
    return Control.newBuilder()
        .setId(random.nextInt(50) == 0 ? text(random) : "id-" + random.nextLong())
        .setDeadline(random.nextInt(4) == 0 ? random.nextLong() : 0)
        .setTarget(random.nextInt(3) > 0 ? "all" : text(random))
        .setName(
            sets
                ? settings[random.nextInt(settings.length)].command()
                : random.nextInt(3) > 0 ? PLAIN[random.nextInt(PLAIN.length)] : text(random))
        .setArguments(arguments)
        .build();
  }

  @Test
  void eachIsUnderstoodOrRefused() {
    long seed = Seeds.fresh();
    SplittableRandom random = new SplittableRandom(seed);
    FleetControl control = new FleetControl();
    int understood = 0;
    for (int i = 0; i < COMMANDS; i++) {
      Control forged = control(random);
      try {
        Command command = Command.of(forged, i);
        understood++;
        heard(control, command);
      } catch (IllegalArgumentException refused) {
        assertThat(refused.getMessage())
            .as("seed %d, command %d", seed, i)
            .isNotBlank()
            .hasSizeLessThan(MESSAGE_MAX);
      } catch (RuntimeException | StackOverflowError e) {
        throw new AssertionError("seed %d, command %d: %s".formatted(seed, i, forged), e);
      }
    }
    System.out.println(COMMANDS + " commands of seed " + seed + ", understood " + understood);
    assertThat(understood).isGreaterThan(COMMANDS / 10);
  }

  /** It can be told on, held against a core, and made from what the settings say. */
  private static void heard(FleetControl control, Command command) {
    Order order = command.order();
    assertThat(Order.parse(order.name(), order.arguments())).isEqualTo(order);
    TraceSettings standard = TraceSettings.standard();
    TraceSettings settings = order.apply(standard, standard);
    if (settings.on()) {
      assertThat(Setting.settings(Setting.allTexts(settings))).isEqualTo(settings);
    }
    if (!command.target().matches(CORE)) {
      assertThat(command.target().whyNone(List.of(CORE))).hasSizeLessThan(MESSAGE_MAX);
    }
    Ruling.of(order, SITES, standard, standard);
    control.add(command, NOW);
    if (control.size() % 100 == 1) {
      control.settings(CORE, SITES, standard);
    }
  }

  /** A hundred characters can say a thousand million, which would all be made. */
  @Test
  void repeatsOfRepeatsAreRefusedBeforeTheyAreMade() {
    for (String text :
        List.of(
            "/(((a{100}){100}){100}){100}/", "/((a{1,1000}){1000}){2,}/", "/(a{0,999}){999}/")) {
      for (String name : List.of("set-filter", "set-graph-notrace", "set-trigger", "set-returns")) {
        String argument = name.equals("set-trigger") ? text + ":traceoff" : text;
        assertThatIllegalArgumentException()
            .isThrownBy(() -> Order.parse(name, List.of(argument)))
            .withMessageContaining("repeats written out: at most 131,072");
      }
    }
    assertThat(Order.parse("set-filter", List.of("/^[0-9a-f]{16}$/"))).isNotNull();
  }

  @Test
  void manyNamesThatAreNotThereAreAFewReasons() {
    List<String> names = new ArrayList<>();
    for (int i = 0; i < Setting.TEXTS_MAX; i++) {
      names.add("nothing_" + i);
    }
    TraceSettings now = TraceSettings.standard();
    Ruling ruling = Ruling.of(Order.parse("set-filter", names), SITES, now, now);
    assertThat(ruling.refused()).isTrue();
    assertThat(ruling.reasons()).hasSize(Ruling.REASONS_MAX + 1);
    assertThat(ruling.reasons().getLast()).contains("9,980 more");
  }

  @Test
  void whatFleetsKeepOfCommandsIsBounded() {
    FleetControl control = new FleetControl();
    Order long1000 = Order.parse("set-filter", Collections.nCopies(1_000, "a".repeat(1_000)));
    Order status = Order.parse("status", List.of());
    Command first = command(0, long1000);
    assertThat(control.add(first, NOW)).isTrue();
    assertThat(control.add(first, NOW)).isFalse();
    for (int i = 1; i < 4; i++) {
      control.add(command(i, long1000), NOW);
    }
    assertThatThrownBy(() -> control.add(command(4, long1000), NOW))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("among the 4 commands", "send 'reset' to target all");
    assertThat(control.add(command(5, Order.RESET), NOW)).isTrue();
    assertThat(control.add(command(6, long1000), NOW)).isTrue();
    for (int i = 0; i <= FleetControl.IDS_MAX; i++) {
      control.add(command(10 + i, status), NOW);
    }
    assertThat(control.add(first, NOW)).as("an id of long ago").isTrue();
    assertThat(control.size()).isEqualTo(2);
  }

  private static Command command(int number, Order order) {
    return new Command("id-" + number, number, Instant.MAX, Selector.ALL, order);
  }
}
