package dev.retstack.cli.fleetfile;

import dev.retstack.cli.option.CoreGroup;
import java.util.List;

/**
 * A fleet file, found to make sense.
 *
 * @param groups its cores
 * @param words what it says of the fleet as a whole, as words of a command line
 */
public record FleetPlan(List<CoreGroup> groups, List<String> words) {
  public FleetPlan {
    groups = List.copyOf(groups);
    words = List.copyOf(words);
  }
}
