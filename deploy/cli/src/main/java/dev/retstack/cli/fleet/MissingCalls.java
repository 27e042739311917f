package dev.retstack.cli.fleet;

import dev.retstack.graph.check.Count;
import java.util.Set;

/** What is said of system calls that a program asked for in vain. */
final class MissingCalls {
  private static final Set<String> PROCESSES = Set.of("fork", "vfork", "execve", "execveat");

  private MissingCalls() {}

  /**
   * A line for the end of a run.
   *
   * @param call its name, with what it was made by in parentheses
   * @param count how often
   */
  static String describe(String call, long count) {
    String said =
        "system call %s is not supported, ENOSYS %s".formatted(call, Count.grouped(count, "time"));
    return PROCESSES.contains(call.replaceFirst(" .*", ""))
        ? said
            + ": a core is one process; record the program that it would start on a core of its"
            + " own, with another --image"
        : said;
  }
}
