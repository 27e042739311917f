package dev.retstack.service.control;

import dev.retstack.schema.Control;
import dev.retstack.schema.record.FunctionName;
import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;

/**
 * What a command may say, and what its patterns mean. The fleets decide both; the program that
 * starts a member passes their rules in, because the two sides of Kafka do not know each other.
 */
public interface CommandRules {
  /**
   * A call site that a pattern may mean.
   *
   * @param function its names; an empty one if no symbol covers the site
   * @param site address of the call
   * @param image name of the program's file
   */
  record Site(FunctionName function, long site, String image) {}

  /**
   * A core that a target may select.
   *
   * @param core its name
   * @param image name of the program's file
   */
  record Core(String core, String isa, String image) {}

  /**
   * Which cores are meant.
   *
   * @param ignoresLabels whether labels were named: a member does not know those of a core
   */
  record Target(Predicate<Core> test, boolean ignoresLabels) {}

  /**
   * A command that makes sense, without its id, its issuer and its times.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  Control.Builder command(String target, String name, List<String> arguments);

  /**
   * What each argument of a command means: empty for one that names no function, or names it by
   * something that is not in the images topic.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  List<Optional<Predicate<Site>>> functions(String name, List<String> arguments);

  /**
   * Reads a target.
   *
   * @throws IllegalArgumentException with fact, value and cure
   */
  Target target(String target);
}
