package dev.retstack.cli.trace;

import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.control.Selector;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.Order;
import dev.retstack.fleet.settings.PatternSubject;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.schema.Control;
import dev.retstack.service.control.CommandRules;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.stream.Collectors;

/** The rules by which fleets read commands: the command line and the members keep to the same. */
public final class FleetCommandRules implements CommandRules {
  /** Images in Kafka have no sections. */
  private static final String SECTION = "section:";

  private static final String LABEL = "label";

  @Override
  public Control.Builder command(String target, String name, List<String> arguments) {
    Order order = Order.parse(name, arguments);
    return Control.newBuilder()
        .setId("")
        .setTarget(Selector.parse(target).toString())
        .setName(order.name())
        .setArguments(order.arguments());
  }

  @Override
  public List<Optional<Predicate<Site>>> functions(String name, List<String> arguments) {
    return Setting.of(name).stream()
        .flatMap(setting -> arguments.stream().map(argument -> functions(setting, argument)))
        .toList();
  }

  private static Optional<Predicate<Site>> functions(Setting setting, String argument) {
    List<FunctionPattern> patterns =
        setting.patterns(setting.put(TraceSettings.standard(), List.of(argument)));
    return patterns.isEmpty() || patterns.getFirst().toString().startsWith(SECTION)
        ? Optional.empty()
        : Optional.of(
            site ->
                patterns
                    .getFirst()
                    .matches(new PatternSubject(site.function(), site.site(), "", site.image())));
  }

  @Override
  public Target target(String target) {
    Selector all = Selector.parse(target); // throws where it makes no sense
    String known =
        Arrays.stream(target.split(",", -1))
            .filter(term -> !term.startsWith(LABEL))
            .collect(Collectors.joining(","));
    boolean ignores = !known.equals(target);
    Selector rest = !ignores ? all : known.isEmpty() ? Selector.ALL : Selector.parse(known);
    return new Target(
        core -> rest.matches(new CoreIdentity(core.core(), core.isa(), core.image(), Map.of())),
        ignores);
  }
}
