package dev.retstack.fleet.control;

import static org.assertj.core.api.Assertions.assertThat;
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
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

final class FleetControlTest {
  private static final Instant NOW = Instant.ofEpochMilli(1_795_343_400_000L);
  private static final SiteCatalog SITES =
      SiteCatalog.of(
          "fw.elf",
          List.of(
              new PatternSubject("main", 0x1000, ".text", "fw.elf"),
              new PatternSubject("read", 0x1010, ".text", "fw.elf")),
          "fw's ISA",
          List.of("write", "read", "open", "openat"));

  private static final String[] TARGETS = {
    "all", "isa=arm", "isa=riscv64", "core=core-1", "label=rack:7", "isa=arm,core=core-?"
  };

  /** Some of them name functions that there are not. */
  private static final String[][] ORDERS = {
    {"set-filter", "main"},
    {"set-filter", "read", "other"},
    {"set-filter", "nothing"},
    {"set-filter"},
    {"set-notrace", "re*"},
    {"set-notrace"},
    {"set-max-depth", "3"},
    {"set-max-depth"},
    {"set-tracer", "function"},
    {"set-tracer"},
    {"set-trigger", "main:traceoff:1"},
    {"on"},
    {"off"},
    {"reset"},
    {"snapshot"},
    {"status"},
  };

  private static final List<CoreIdentity> CORES =
      List.of(
          new CoreIdentity("core-0", "arm", "fw.elf", Map.of("rack", "7")),
          new CoreIdentity("core-1", "arm", "fw.elf", Map.of()),
          new CoreIdentity("core-2", "riscv64", "fw.elf", Map.of("rack", "7")),
          new CoreIdentity("corral", "mips", "fw.elf", Map.of()));

  private static Command command(int number, String target, String... order) {
    return new Command(
        "id-" + number,
        number,
        Instant.MAX,
        Selector.parse(target),
        Order.parse(order[0], List.of(order).subList(1, order.length)));
  }

  private static List<Command> draw(Random random) {
    List<Command> log = new ArrayList<>();
    int length = random.nextInt(25);
    for (int i = 0; i < length; i++) {
      log.add(
          command(
              i, TARGETS[random.nextInt(TARGETS.length)], ORDERS[random.nextInt(ORDERS.length)]));
    }
    return log;
  }

  @Test
  void aLateJoinerTracesWhatAnEarlyOneDoes() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    for (int round = 0; round < 150; round++) {
      TraceSettings start =
          random.nextBoolean()
              ? TraceSettings.standard()
              : TraceSettings.standard().withMaxDepth(9).withOn(false);
      FleetControl control = new FleetControl();
      Map<CoreIdentity, TraceSettings> early = new HashMap<>();
      CORES.forEach(core -> early.put(core, start));
      for (Command command : draw(random)) {
        assertThat(control.add(command, NOW)).isTrue();
        early.replaceAll(
            (core, now) ->
                command.target().matches(core)
                    ? Ruling.of(command.order(), SITES, now, start).settings()
                    : now);
        for (CoreIdentity core : CORES) {
          assertThat(control.settings(core, SITES, start))
              .as("%s after %s, seed %d", core, command, seed)
              .isEqualTo(early.get(core));
        }
      }
    }
  }

  /** Said anew, part by part, by looking for the last command that counts. */
  @Test
  void theLastCommandThatSelectsACoreCounts() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    TraceSettings start = TraceSettings.standard();
    for (int round = 0; round < 150; round++) {
      List<Command> log = draw(random);
      FleetControl control = new FleetControl();
      log.forEach(command -> control.add(command, NOW));
      for (CoreIdentity core : CORES) {
        TraceSettings settings = control.settings(core, SITES, start);
        for (Setting setting : Setting.values()) {
          assertThat(setting.texts(settings))
              .as("%s of %s after %s, seed %d", setting, core, log, seed)
              .isEqualTo(last(log, core, setting.command()));
        }
        assertThat(settings.on())
            .as("%s after %s, seed %d", core, log, seed)
            .isEqualTo(isOn(log, core));
      }
    }
  }

  private static List<String> last(List<Command> log, CoreIdentity core, String name) {
    for (Command command : log.reversed()) {
      boolean counts = command.target().matches(core);
      if (counts && command.order().equals(Order.RESET)) {
        return List.of();
      }
      if (counts
          && command.order().name().equals(name)
          && !command.order().arguments().equals(List.of("nothing"))) {
        return command.order().arguments();
      }
    }
    return List.of();
  }

  private static boolean isOn(List<Command> log, CoreIdentity core) {
    return log.reversed().stream()
        .filter(command -> command.target().matches(core))
        .map(Command::order)
        .filter(List.of(Order.ON, Order.OFF, Order.RESET)::contains)
        .findFirst()
        .map(order -> !order.equals(Order.OFF))
        .orElse(true);
  }

  @Test
  void anIdCountsOnce() {
    FleetControl control = new FleetControl();

    assertThat(control.add(command(1, "all", "off"), NOW)).isTrue();
    assertThat(control.add(command(1, "all", "on"), NOW)).isFalse();
    assertThat(control.settings(CORES.getFirst(), SITES, TraceSettings.standard()).on()).isFalse();
  }

  @Test
  void whatWasSentTooLateDoesNotCount() {
    Command late = new Command("a", 0, NOW, Selector.ALL, Order.OFF);
    FleetControl control = new FleetControl();
    control.add(late, NOW.plusMillis(1));

    assertThat(control.size()).isZero();
    control.add(new Command("b", 1, NOW, Selector.ALL, Order.OFF), NOW);
    assertThat(control.size()).isOne();
  }

  @Test
  void aResetOfAllShortensTheFold() {
    FleetControl control = new FleetControl();
    control.add(command(1, "isa=arm", "off"), NOW);
    control.add(command(2, "all", "set-filter", "main"), NOW);
    control.add(command(3, "all", "reset"), NOW);

    assertThat(control.size()).isZero();
  }

  @Test
  void anOrderForSystemCallsThatThereAreNotIsRefused() {
    TraceSettings now = TraceSettings.standard();
    Ruling refused =
        Ruling.of(Order.parse("set-events", List.of("syscalls:opne,x*")), SITES, now, now);
    Ruling partly =
        Ruling.of(Order.parse("set-events", List.of("syscalls:opne,w*")), SITES, now, now);

    assertThat(refused.refused()).isTrue();
    assertThat(refused.settings()).isEqualTo(now);
    assertThat(refused.reasons())
        .containsExactly(
            "no system call of fw's ISA is 'opne': did you mean open?",
            "no system call of fw's ISA is 'x*': it has 4, which \"retstack isa --system-calls fw's"
                + " ISA\" lists");
    assertThat(partly.refused()).isFalse();
    assertThat(partly.reasons()).hasSize(1);
    assertThat(Setting.lines(partly.settings())).containsExactly("set-events syscalls:opne,w*");
    assertThat(Ruling.of(Order.parse("set-events", List.of("syscalls")), SITES, now, now).reasons())
        .isEmpty();
  }

  @Test
  void anOrderForFunctionsThatThereAreNotIsRefused() {
    TraceSettings now = TraceSettings.standard().withMaxDepth(2);
    Ruling refused = Ruling.of(Order.parse("set-filter", List.of("mian", "x*")), SITES, now, now);
    Ruling partly = Ruling.of(Order.parse("set-filter", List.of("mian", "m*")), SITES, now, now);

    assertThat(refused.refused()).isTrue();
    assertThat(refused.settings()).isEqualTo(now);
    assertThat(refused.reasons())
        .containsExactly(
            "no function of fw.elf is 'mian': did you mean main?",
            "no function of fw.elf is 'x*': it has 2 functions with a call site, such as main,"
                + " read");
    assertThat(partly.refused()).isFalse();
    assertThat(partly.reasons())
        .containsExactly("no function of fw.elf is 'mian': did you mean main?");
    assertThat(Setting.lines(partly.settings()))
        .containsExactly("set-filter mian m*", "set-max-depth 2");
  }

  @Test
  void whatIsNoCommandIsRefused() {
    assertThatThrownBy(() -> Order.parse("set-filters", List.of()))
        .hasMessageStartingWith(
            "no such command: 'set-filters'; there are set-filter, set-notrace");
    assertThatThrownBy(() -> Order.parse("on", List.of("x")))
        .hasMessage("on takes no arguments: leave [x] out");
    assertThatThrownBy(() -> Order.parse("set-max-depth", List.of("-1")))
        .hasMessage("set-max-depth: no number: '-1'; say 0 for none, or up to 2147483647");
    assertThatThrownBy(() -> Order.parse("set-tracer", List.of("nop", "function")))
        .hasMessage("set-tracer: 2 values [nop, function]: one at most");
    Control control = Control.newBuilder().setId("").setTarget("all").setName("on").build();
    assertThatThrownBy(() -> Command.of(control, 7))
        .hasMessage("command id of 0 characters: from 1 to 200, such as a UUID");
  }

  @Test
  void everySettingIsReadBackFromItsTexts() {
    TraceSettings all = TraceSettings.standard();
    for (String[] order :
        new String[][] {
          {"set-filter", "a", "/b c/"},
          {"set-notrace", "0x10-0x20"},
          {"set-graph-function", "section:.text"},
          {"set-graph-notrace", "image:*"},
          {"set-max-depth", "5"},
          {"set-min-duration", "10000000000"},
          {"set-tracer", "function"},
          {"set-trigger", "a:traceoff:3", "b:enable_event:syscalls"},
          {"set-arguments", "a@arg1,arg2/x"},
          {"set-returns", "a/e"},
          {"set-events", "syscalls:read,w*"},
          {"set-tasks", "0x2000", "task_*"},
          {"set-notasks", "task_idle"},
          {"set-flight-recorder", "1000"},
        }) {
      all = Order.parse(order[0], List.of(order).subList(1, order.length)).apply(all, all);
    }
    TraceSettings copy = TraceSettings.standard();
    for (Setting setting : Setting.values()) {
      assertThat(setting.texts(all)).as("%s", setting).isNotEmpty();
      copy = setting.put(copy, setting.texts(all));
    }
    assertThat(copy).isEqualTo(all);
    assertThat(Setting.lines(all.withOn(false)))
        .hasSize(Setting.values().length + 1)
        .contains("off");
  }
}
