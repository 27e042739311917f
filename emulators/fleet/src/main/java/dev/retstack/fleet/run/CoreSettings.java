package dev.retstack.fleet.run;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.control.FleetControl;
import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.settings.Order;
import dev.retstack.fleet.settings.Ruling;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.settings.TraceChange;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.fleet.settings.Trigger;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;

/** What a core traces now, and how it follows commands. */
public final class CoreSettings {
  private final CoreSpec spec;
  private final Supplier<SiteCatalog> sites;
  private TraceSettings now;

  /**
   * @param sites of its image, made when they are first asked for
   */
  public CoreSettings(CoreSpec spec, Supplier<SiteCatalog> sites) {
    this.spec = spec;
    this.sites = sites;
    this.now = start();
  }

  private TraceSettings start() {
    return spec.options().trace();
  }

  /** What the core traces. */
  TraceSettings now() {
    return now;
  }

  /** Whom commands select. */
  CoreIdentity identity() {
    return spec.identity();
  }

  /** Before the core is opened: does what was commanded so far. */
  void join(FleetControl control) {
    if (control.size() > 0) {
      now = control.settings(identity(), sites.get(), start());
    }
  }

  /**
   * Follows a command, between two slices; a snapshot is only promised.
   *
   * @param core open and not ended
   * @return the answer, but for what is the same in all answers of the core
   */
  ControlResult.Builder follow(Command command, Core core) {
    Instant time = Instant.now();
    if (time.isAfter(command.deadline())) {
      return refused(
          "the deadline passed %d ms ago; give it longer"
              .formatted(Duration.between(command.deadline(), time).toMillis()));
    }
    if (command.order().equals(Order.SNAPSHOT) && now.flightRecorder() == 0) {
      return refused("core %s keeps no records: set-flight-recorder first".formatted(spec.name()));
    }
    Ruling ruling = Ruling.of(command.order(), sites.get(), now, start());
    if (ruling.refused()) {
      return refused(ruling.reasons());
    }
    TraceChange change =
        ruling.settings().equals(now) ? TraceChange.NONE : core.trace(ruling.settings());
    now = ruling.settings();
    List<String> reasons = new ArrayList<>(ruling.reasons());
    reasons.addAll(change.refused());
    reasons.addAll(idleTriggers());
    return ControlResult.newBuilder()
        .setStatus(ControlStatus.APPLIED)
        .setReasons(reasons)
        .setSitesOn(change.sitesOn())
        .setSitesOff(change.sitesOff())
        .setSites(sites.get().countOn(now))
        .setSitesAll(sites.get().subjects().size())
        .setTime(core.clock().now())
        .setSettings(Setting.lines(now));
  }

  /** Triggers that have no effect under the settings of now, a sentence each. */
  private List<String> idleTriggers() {
    boolean keeps = now.flightRecorder() > 0;
    boolean knowsCallers = now.tracer() == Tracer.FUNCTION_GRAPH;
    List<String> idle = new ArrayList<>();
    for (Trigger trigger : now.triggers()) {
      if (trigger.action() == Trigger.Action.SNAPSHOT && !keeps) {
        idle.add(
            "trigger %s sends nothing while core %s keeps no records: set-flight-recorder"
                .formatted(trigger, spec.name()));
      } else if (trigger.action() == Trigger.Action.STACKTRACE && !knowsCallers) {
        idle.add(
            "trigger %s shows no stack under tracer %s, which keeps none: set-tracer function_graph"
                .formatted(trigger, now.tracer()));
      }
    }
    return idle;
  }

  /** True where a function may ask for the flight recorder's records in any slice. */
  boolean maySnapshot() {
    return now.flightRecorder() > 0
        && now.triggers().stream().anyMatch(t -> t.action() == Trigger.Action.SNAPSHOT);
  }

  /** The answer of a core that does not do it. */
  static ControlResult.Builder refused(String why) {
    return refused(List.of(why));
  }

  private static ControlResult.Builder refused(List<String> reasons) {
    return ControlResult.newBuilder().setStatus(ControlStatus.REFUSED).setReasons(reasons);
  }
}
