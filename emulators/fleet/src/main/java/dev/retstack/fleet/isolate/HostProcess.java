package dev.retstack.fleet.isolate;

import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A running {@link CoreHost}: this JVM's program again, with the same flags and classes. */
final class HostProcess {
  private static final int END_SECONDS_MAX = 10;

  /**
   * Frames go through descriptor 3, so that nothing a library prints gets between them. The
   * keyboard's Ctrl-C reaches the whole group: the child ignores it, and its parent stops it. A
   * signal ignored at the start stays so in a JVM.
   */
  private static final List<String> SHELL =
      List.of("/bin/sh", "-c", "trap '' INT HUP; exec 3>&1 1>&2; exec \"$@\"", "retstack-host");

  /** A crash writes no file: its report goes where the parent reads. */
  private static final List<String> CRASH_FLAGS =
      List.of(
          "-XX:+ErrorFileToStderr", "-XX:-CreateCoredumpOnCrash", "-XX:+ExitOnOutOfMemoryError");

  private final Process process;
  private final InputStream frames;
  private final OutputStream toChild;
  private final LastWords words;

  private HostProcess(Process process) {
    this.process = process;
    this.frames = new BufferedInputStream(process.getInputStream(), 1 << 16);
    this.toChild = process.getOutputStream();
    this.words = new LastWords(process.getErrorStream());
  }

  /** Starts a child; it has no job yet. */
  static HostProcess start() throws IOException {
    return new HostProcess(new ProcessBuilder(command(CoreHost.class)).start());
  }

  /**
   * The command of a child: this JVM's program once more, with descriptor 3 for its answers, whose
   * name is its argument.
   */
  static List<String> command(Class<?> main) {
    List<String> command = new ArrayList<>(SHELL);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(HostProcess::isInherited)
        .forEach(command::add);
    command.addAll(CRASH_FLAGS);
    command.addAll(
        List.of("-cp", System.getProperty("java.class.path"), main.getName(), "/dev/fd/3"));
    return command;
  }

  /** Agents (debuggers, profilers) serve one process, and a port of theirs is taken already. */
  private static boolean isInherited(String flag) {
    return !flag.startsWith("-agent")
        && !flag.startsWith("-javaagent")
        && !flag.startsWith("-XX:ArchiveClassesAtExit")
        && !flag.startsWith("-XX:StartFlightRecording");
  }

  /** The next frame; null when the child is gone. For one thread. */
  Frame read() throws IOException {
    return Frame.read(frames);
  }

  /**
   * Sends a frame.
   *
   * @throws IOException where the child is gone
   */
  void send(Frame frame) throws IOException {
    frame.write(toChild);
  }

  long pid() {
    return process.pid();
  }

  /** Ends it by force. */
  void kill() {
    process.destroyForcibly();
  }

  /** Waits for its end, which is near: its frames have ended. Returns why, in words. */
  String awaitEnd() throws InterruptedException {
    if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
      process.destroyForcibly().waitFor();
    }
    return words.reason(process.exitValue());
  }
}
