package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.settings.EventRequest;
import dev.retstack.fleet.settings.TraceEvent;
import dev.retstack.fleet.settings.TraceSettings;
import java.util.EnumSet;
import java.util.Set;

/** Which events other than calls a core records. Triggers switch them while it runs. */
public final class EventRules {
  private final TraceSettings settings;
  private final Set<TraceEvent> on = EnumSet.noneOf(TraceEvent.class);

  EventRules(TraceSettings settings) {
    this.settings = settings;
    settings.events().stream().map(EventRequest::event).forEach(on::add);
  }

  /** From here on events of a kind are recorded, or not. */
  public void set(TraceEvent kind, boolean value) {
    if (value) {
      on.add(kind);
    } else {
      on.remove(kind);
    }
  }

  /** True where an event of that name is recorded. */
  public boolean records(TraceEvent kind, String name) {
    return on.contains(kind)
        && settings.event(kind).map(request -> request.matches(name)).orElse(true);
  }
}
