package dev.retstack.cli.fleet;

import dev.retstack.machine.linux.thread.Schedule;
import picocli.CommandLine.Option;

/** How the threads of a program take turns. */
final class ThreadOptions {
  @Option(
      names = "--quantum",
      defaultValue = "" + Schedule.QUANTUM,
      paramLabel = "N",
      description =
          "Instructions after which another thread of the program runs (${DEFAULT-VALUE}); 0: the"
              + " program cannot start threads, and its signal handlers do not run.")
  private long quantum;

  @Option(
      names = "--schedule-seed",
      defaultValue = "0",
      paramLabel = "N",
      description =
          "Which thread is next and for how long is drawn from this seed: the same seed, the same"
              + " trace. 0 (default): in turn, each for --quantum instructions.")
  private long seed;

  Schedule schedule() {
    return new Schedule(quantum, seed);
  }
}
