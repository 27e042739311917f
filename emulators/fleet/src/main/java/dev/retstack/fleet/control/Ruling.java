package dev.retstack.fleet.control;

import java.util.ArrayList;
import java.util.List;

/**
 * What an order comes to on one core: a pure function of the core's settings and of its image.
 *
 * @param settings of the core from now on
 * @param refused true where the order is not followed; the settings are those before it then
 * @param reasons why it is refused, or what of it leads to nothing; a sentence each
 */
public record Ruling(TraceSettings settings, boolean refused, List<String> reasons) {
  public Ruling {
    reasons = List.copyOf(reasons);
  }

  /**
   * Holds an order against a core. One that names functions or system calls is refused where the
   * image or its ISA has none of them; where it has some, the others are told.
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
    List<String> reasons = new ArrayList<>();
    for (FunctionPattern pattern : named) {
      if (!sites.has(pattern)) {
        reasons.add(sites.whyNone(pattern));
      }
    }
    List<Glob> events = set.setting().events(then);
    for (Glob event : events) {
      if (!sites.hasEvent(event)) {
        reasons.add(sites.whyNoEvent(event));
      }
    }
    int all = named.size() + events.size();
    boolean refused = all > 0 && reasons.size() == all;
    return new Ruling(refused ? now : then, refused, reasons);
  }
}
