package dev.retstack.cli;

import java.io.IOException;

/**
 * A shell that stops a process for nine parts in ten of the time: cores of a test that go on until
 * they are stopped, where what is tested is not how much the machine carries.
 */
public final class Pacer {
  private static final String LINE =
      "while kill -STOP $0 2>/dev/null; do sleep 0.27; kill -CONT $0; sleep 0.03; done";

  private Pacer() {}

  /** The command that paces this process until one of the two ends. */
  public static ProcessBuilder of(Process process) {
    return new ProcessBuilder("sh", "-c", LINE, String.valueOf(process.pid()))
        .redirectErrorStream(true)
        .redirectOutput(ProcessBuilder.Redirect.DISCARD);
  }

  /** Ends pacing; returns when the process runs all the time. */
  public static void end(Process pacer, Process paced) throws IOException, InterruptedException {
    pacer.destroyForcibly().waitFor();
    RetstackScript.signal("CONT", paced.pid());
  }

  /** Whether a fleet's note says that it has sent records; before that it tells of 0. */
  public static boolean hasSent(String note) {
    return note.matches(".* [1-9][0-9,]* records in .*");
  }
}
