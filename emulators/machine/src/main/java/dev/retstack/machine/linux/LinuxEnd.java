package dev.retstack.machine.linux;

import dev.retstack.schema.record.EndDetail;

/** How a program ended. */
public sealed interface LinuxEnd {

  /** The number that a shell would report as {@code $?}. */
  int shellCode();

  /** A line for a human reader. */
  String describe();

  /**
   * By exit or exit_group.
   *
   * @param code 0-255
   */
  record Exited(int code) implements LinuxEnd {
    @Override
    public int shellCode() {
      return code;
    }

    @Override
    public String describe() {
      return EndDetail.exited(code);
    }
  }

  /**
   * By us, since it was at a limit.
   *
   * @param why which
   */
  record Stopped(String why) implements LinuxEnd {
    @Override
    public int shellCode() {
      return 0;
    }

    @Override
    public String describe() {
      return why;
    }
  }

  /**
   * By a signal that it sent to itself (abort), or because it could never continue.
   *
   * @param signal number of the signal
   * @param why what happened
   */
  record Killed(int signal, String why) implements LinuxEnd {
    @Override
    public int shellCode() {
      return 128 + signal;
    }

    @Override
    public String describe() {
      return EndDetail.killed(signal, why);
    }
  }
}
