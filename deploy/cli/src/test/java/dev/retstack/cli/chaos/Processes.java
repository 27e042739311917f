package dev.retstack.cli.chaos;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.cli.ClassArchive;
import dev.retstack.cli.RetstackScript;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;

/**
 * Processes of a test, which do not outlive it: a janitor, a shell that reads from this process,
 * kills what is left when the pipe ends, however it ends.
 */
final class Processes implements AutoCloseable {
  /** Ports below those that the kernel gives to clients: see {@link #freePort}. */
  private static final int PORTS_FROM = 20_000;

  private static final int PORTS_TO = 32_000;
  private static final int TRIES = 1_000;

  private final List<Process> started = new ArrayList<>();
  private final SplittableRandom random = new SplittableRandom(ProcessHandle.current().pid());
  private final Path retstack;
  private final Process janitor;

  /**
   * None so far.
   *
   * @param folder for the {@code retstack} that is under test
   */
  Processes(Path folder) throws IOException {
    retstack = RetstackScript.write(folder.resolve("bin"));
    String script =
        "all=; while read -r line; do all=\"$line; $all\"; done; eval \"$all\" 2>/dev/null";
    janitor = new ProcessBuilder("setsid", "sh", "-c", script).start();
  }

  /** A line that may call {@code retstack}, to be started in a folder. */
  ProcessBuilder retstack(Path folder, String line) {
    return RetstackScript.line(retstack, folder, Map.of(), line);
  }

  /** Starts a process and sees to its end. */
  synchronized Process start(ProcessBuilder builder) throws IOException {
    Process process = builder.start();
    started.removeIf(one -> !one.isAlive());
    started.add(process);
    atTheEnd("kill -KILL " + process.pid());
    return process;
  }

  /** Is run by the janitor if this process ends before its time, last said first. */
  synchronized void atTheEnd(String line) throws IOException {
    OutputStream lines = janitor.getOutputStream();
    lines.write((line + "\n").getBytes(UTF_8));
    lines.flush();
  }

  /** Ends a process by force; returns when it is gone. */
  static void kill(Process process) {
    process.destroyForcibly();
    process.onExit().join();
  }

  /** Waits for the end of a process. */
  static void awaitEnd(Process process, int seconds) throws InterruptedException {
    if (!process.waitFor(seconds, TimeUnit.SECONDS)) {
      throw new AssertionError("process %d runs after %d s".formatted(process.pid(), seconds));
    }
  }

  /**
   * A port that stays free while its server is dead. One of those that the kernel gives to clients
   * would be taken sooner or later, on loopback even by a client that asks for this very port and
   * is connected with itself.
   */
  synchronized int freePort() {
    for (int i = 0; i < TRIES; i++) {
      int port = random.nextInt(PORTS_FROM, PORTS_TO);
      try (ServerSocket socket = new ServerSocket()) {
        socket.setReuseAddress(true);
        socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
        return port;
      } catch (IOException _) {
        // taken: another one
      }
    }
    throw new IllegalStateException("no free port in %d..%d".formatted(PORTS_FROM, PORTS_TO));
  }

  /** The Java that runs the tests, small and quick to start. */
  static List<String> java(int heapMib) throws IOException {
    return ClassArchive.java("-Xmx" + heapMib + "m");
  }

  @Override
  public void close() {
    List<Process> left;
    synchronized (this) {
      left = List.copyOf(started);
    }
    for (Process process : left) {
      process.descendants().forEach(ProcessHandle::destroyForcibly);
      kill(process);
    }
    kill(janitor);
  }
}
