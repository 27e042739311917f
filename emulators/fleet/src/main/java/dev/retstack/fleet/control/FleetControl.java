package dev.retstack.fleet.control;

import dev.retstack.fleet.settings.Order;
import dev.retstack.fleet.settings.Ruling;
import dev.retstack.fleet.settings.Setting;
import dev.retstack.fleet.settings.SiteCatalog;
import dev.retstack.fleet.settings.TraceSettings;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * The sum of all commands in a log. A pure fold: the same commands in the same order give each core
 * the same settings, at any time. So a core that joins late traces what the others trace.
 *
 * <p>For each part of the settings the last command counts that selects the core, was sent in time,
 * and is not refused by it because it lacks such functions.
 */
public final class FleetControl {
  /** Ids that are remembered: who sends a command twice does so at once. */
  static final int IDS_MAX = 10_000;

  /**
   * Most characters of the commands that are held; a wildcard counts as {@link
   * #WILDCARD_CHARACTERS}.
   */
  static final long CHARACTERS_MAX = 1 << 22;

  private static final int WILDCARD_CHARACTERS = 16;

  private final List<Command> commands = new ArrayList<>();
  private final Set<String> ids = new LinkedHashSet<>();
  private long characters;

  /**
   * Takes the next command of the log.
   *
   * @param sent when it came into the log
   * @return false where it is to be ignored: its id was used before
   * @throws IllegalArgumentException where there is no room for it, with the cure
   */
  public boolean add(Command command, Instant sent) {
    if (!ids.add(command.id())) {
      return false;
    }
    if (ids.size() > IDS_MAX) {
      ids.remove(ids.iterator().next());
    }
    if (command.order().lasts() && !sent.isAfter(command.deadline())) {
      if (command.order().equals(Order.RESET) && command.target().equals(Selector.ALL)) {
        commands.clear(); // nothing before it counts any more, for any core
        characters = 0;
      } else {
        hold(command);
      }
    }
    return true;
  }

  private void hold(Command command) {
    List<String> texts = command.order().arguments();
    long more = command.id().length();
    more += command.target().toString().length();
    more += texts.stream().mapToLong(String::length).sum();
    more += WILDCARD_CHARACTERS * Setting.characters(texts);
    if (characters + more > CHARACTERS_MAX) {
      throw new IllegalArgumentException(
          "no room for it among the %,d commands since the last reset: send 'reset' to target all"
              .formatted(commands.size()));
    }
    characters += more;
    commands.add(command);
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
