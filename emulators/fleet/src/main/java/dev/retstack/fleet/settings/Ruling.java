package dev.retstack.fleet.settings;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * The effect of an order on one core: a pure function of the core's settings and of its image.
 *
 * @param settings of the core from now on
 * @param refused true where the order is not followed; the settings are those before it then
 * @param reasons why it is refused, or what of it leads to nothing; a sentence each
 */
public record Ruling(TraceSettings settings, boolean refused, List<String> reasons) {
  /** Names that are explained; each is compared with all that there are. */
  public static final int REASONS_MAX = 20;

  public Ruling {
    reasons = List.copyOf(reasons);
  }

  /**
   * Holds an order against a core. One that names functions or system calls is refused where the
   * image or its ISA has none of them; where it has some, the others are reported.
   *
   * @param now settings before the order
   * @param start settings that the core was started with
   */
  public static Ruling of(Order order, SiteCatalog sites, TraceSettings now, TraceSettings start) {
    TraceSettings then = order.apply(now, start);
    if (!(order instanceof Order.Set set)) {
      return new Ruling(then, false, List.of());
    }
    List<FunctionPattern> named = set.setting().patterns(then);
    List<Glob> events = set.setting().events(then);
    List<FunctionPattern> noFunction = named.stream().filter(p -> !sites.has(p)).toList();
    List<Glob> noEvent = events.stream().filter(event -> !sites.hasEvent(event)).toList();
    int all = named.size() + events.size();
    int none = noFunction.size() + noEvent.size();
    List<String> reasons =
        Stream.concat(
                noFunction.stream().map(sites::whyNone), noEvent.stream().map(sites::whyNoEvent))
            .limit(REASONS_MAX)
            .collect(Collectors.toCollection(ArrayList::new));
    if (none > REASONS_MAX) {
      reasons.add("and %,d more that are not there".formatted(none - REASONS_MAX));
    }
    boolean refused = all > 0 && none == all;
    return new Ruling(refused ? now : then, refused, reasons);
  }
}
