package dev.retstack.cli.command;

/** The exit codes of the process. */
public final class ExitCode {
  /** Done as asked. */
  public static final int OK = 0;

  /** Done, and the user asked to fail on what was found (a gate such as {@code --fail-on}). */
  public static final int FINDINGS = 1;

  /** The command line makes no sense. */
  public static final int USAGE = 2;

  /** A file, an image, a trace, topics or state are not what they should be. */
  public static final int BAD_INPUT = 3;

  /** Something outside is missing or refuses: a library, a port, a broker, a disk. */
  public static final int ENVIRONMENT = 4;

  /** A core faulted: the guest or the emulator failed, and so the run is not whole. */
  public static final int FAULTED = 6;

  /** Cores ran, and none of them recorded anything. */
  public static final int NOTHING_RECORDED = 7;

  /** A core waits for an interrupt that never comes. */
  public static final int WAITS = 8;

  private ExitCode() {}
}
