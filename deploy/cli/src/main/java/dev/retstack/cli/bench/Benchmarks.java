package dev.retstack.cli.bench;

import dev.retstack.cli.command.Terminal;

/**
 * Measures the stages of the path. The benchmarks are not part of the command: the launcher adds
 * them to the class path only for {@code retstack bench}.
 */
public interface Benchmarks {
  /** Measures what was asked for, and prints the figures. */
  void run(BenchOptions options, Terminal terminal) throws Exception;
}
