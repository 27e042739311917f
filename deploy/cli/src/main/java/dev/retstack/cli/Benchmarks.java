package dev.retstack.cli;

import dev.retstack.cli.option.BenchOptions;

/**
 * Measures the stages of the path. The benchmarks are no part of the command: the launcher adds
 * them to the class path of {@code retstack bench} alone.
 */
public interface Benchmarks {
  /** Measures what was asked for, and prints the figures. */
  void run(BenchOptions options, Terminal terminal) throws Exception;
}
