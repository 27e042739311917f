package dev.retstack.fleet.control;

import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * What all commands in a log add up to. A pure fold: the same commands in the same order give each
 * core the same settings, however often and whenever it asks. That is how a core that joins late
 * comes to trace what the others do.
 *
 * <p>For each part of the settings the last command counts that selects the core, was sent in time,
 * and is not refused by it for lack of such functions.
 */
public final class FleetControl {
  private final List<Command> commands = new ArrayList<>();
  private final Set<String> ids = new HashSet<>();

  /**
   * Takes the next command of the log.
   *
   * @param sent when it came into the log
   * @return false where it is to be ignored: its id was used before
   */
  public boolean add(Command command, Instant sent) {
    if (!ids.add(command.id())) {
      return false;
    }
    if (command.order().lasts() && !sent.isAfter(command.deadline())) {
      if (command.order().equals(Order.RESET) && command.target().equals(Selector.ALL)) {
        commands.clear(); // nothing before it counts any more, for any core
      } else {
        commands.add(command);
      }
    }
    return true;
  }

  /**
   * What a core is to trace.
   *
   * @param sites of its image
   * @param start settings that it was started with
   */
  public TraceSettings settings(CoreIdentity core, SiteCatalog sites, TraceSettings start) {
    TraceSettings settings = start;
    for (Command command : commands) {
      if (command.target().matches(core)) {
        settings = Ruling.of(command.order(), sites, settings, start).settings();
      }
    }
    return settings;
  }

  /** Commands that a core has to be held against. */
  public int size() {
    return commands.size();
  }

  /** These commands: another fold that is given them, and no others, comes to the same. */
  public List<Command> commands() {
    return List.copyOf(commands);
  }
}
