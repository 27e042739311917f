package dev.retstack.service.control;

import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The answers to one command. A fleet says to how many cores it gave the command; then each of
 * these cores answers. The number of fleets is unknown.
 */
public final class AnswerSheet {
  private final String command;

  /** How many cores of a session are still to answer; a core may be faster than its fleet. */
  private final Map<String, Integer> outstanding = new HashMap<>();

  private final Map<String, ControlResult> cores = new TreeMap<>();
  private final List<ControlResult> fleetsRefusing = new ArrayList<>();
  private int fleets;

  /** For answers to the command of that id. */
  public AnswerSheet(String command) {
    this.command = command;
  }

  /** Notes an answer; one to another command is left alone. */
  public void add(ControlResult answer) {
    if (!answer.getCommand().equals(command)) {
      return;
    }
    if (!answer.getCore().isEmpty()) {
      cores.put(answer.getSession() + "/" + answer.getCore(), answer);
      outstanding.merge(answer.getSession(), -1, Integer::sum);
    } else {
      fleets++;
      if (answer.getStatus() == ControlStatus.ACCEPTED) {
        outstanding.merge(answer.getSession(), answer.getCores(), Integer::sum);
      } else {
        fleetsRefusing.add(answer);
      }
    }
  }

  /** True where at least one fleet has answered and none of its cores is still to. */
  public boolean isComplete() {
    return fleets > 0 && outstanding.values().stream().allMatch(count -> count == 0);
  }

  /** Cores that should have answered and have not. */
  public int missing() {
    return outstanding.values().stream().mapToInt(count -> Math.max(0, count)).sum();
  }

  /** Answers of cores, by name. */
  public List<ControlResult> cores() {
    return cores.values().stream().sorted(Comparator.comparing(ControlResult::getCore)).toList();
  }

  /** What fleets say that none of whose cores is meant, or that do not understand the command. */
  public List<String> refusals() {
    return fleetsRefusing.stream()
        .flatMap(answer -> answer.getReasons().stream())
        .distinct()
        .toList();
  }

  /** Fleets that answered. */
  public int fleets() {
    return fleets;
  }

  /** True where every core that was meant did it, and there was one. */
  public boolean isAllApplied() {
    return isComplete()
        && !cores.isEmpty()
        && cores.values().stream().allMatch(a -> a.getStatus() == ControlStatus.APPLIED);
  }
}
