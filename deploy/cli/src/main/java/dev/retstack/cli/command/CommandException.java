package dev.retstack.cli.command;

/**
 * A verb cannot continue. The message is one sentence for the user: what is wrong, the value, and
 * the cure.
 */
public final class CommandException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final int exitCode;

  private CommandException(int exitCode, String message, Throwable cause) {
    super(message, cause);
    this.exitCode = exitCode;
  }

  /** What the user asks for makes no sense; for what stands elsewhere than on the command line. */
  public static CommandException usage(String message) {
    return new CommandException(ExitCode.USAGE, message, null);
  }

  /** What the user handed over is at fault. */
  public static CommandException badInput(String message) {
    return new CommandException(ExitCode.BAD_INPUT, message, null);
  }

  /** What the user handed over is at fault, and {@code cause} says why. */
  public static CommandException badInput(String message, Throwable cause) {
    return new CommandException(ExitCode.BAD_INPUT, message, cause);
  }

  /** The machine or the network is at fault. */
  public static CommandException environment(String message) {
    return new CommandException(ExitCode.ENVIRONMENT, message, null);
  }

  /** The machine or the network is at fault, and {@code cause} says why. */
  public static CommandException environment(String message, Throwable cause) {
    return new CommandException(ExitCode.ENVIRONMENT, message, cause);
  }

  /** Returns the code, a constant of {@link ExitCode}. */
  public int exitCode() {
    return exitCode;
  }
}
