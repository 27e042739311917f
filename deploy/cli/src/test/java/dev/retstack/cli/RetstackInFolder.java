package dev.retstack.cli;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** One JVM that runs command lines in a folder; a JVM cannot change its own. */
final class RetstackInFolder implements AutoCloseable {
  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int MINUTES_MOST = 2;

  /** One line to run: its words are separated by spaces. */
  private record Line(Map<String, String> environment, String words) {}

  private final Process process;
  private final PrintStream lines;
  private final BufferedReader answers;

  private RetstackInFolder(Process process) {
    this.process = process;
    this.lines = new PrintStream(process.getOutputStream(), true, UTF_8);
    this.answers = new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8));
  }

  /** Starts it. */
  static RetstackInFolder start(Path folder) throws IOException {
    List<String> command = ClassArchive.java("-Xmx512m");
    command.add(RetstackInFolder.class.getName());
    return new RetstackInFolder(
        new ProcessBuilder(command)
            .directory(folder.toFile())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start());
  }

  /**
   * Runs one line after the ones before.
   *
   * @throws java.util.concurrent.CompletionException if it takes more than two minutes or the JVM
   *     has ended
   */
  Ran run(Map<String, String> environment, String words) throws IOException {
    lines.println(JSON.writeValueAsString(new Line(environment, words)));
    return CompletableFuture.supplyAsync(this::answer)
        .orTimeout(MINUTES_MOST, TimeUnit.MINUTES)
        .join();
  }

  private Ran answer() {
    try {
      String answer = answers.readLine();
      if (answer == null) {
        throw new IllegalStateException("the JVM has ended");
      }
      return JSON.readValue(answer, Ran.class);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void close() {
    process.descendants().forEach(ProcessHandle::destroyForcibly);
    process.destroyForcibly();
  }

  /** The other side: a line of JSON in, a line of JSON out. */
  public static void main(String[] arguments) throws IOException {
    PrintStream out = System.out;
    System.setOut(System.err);
    BufferedReader in = new BufferedReader(new InputStreamReader(System.in, UTF_8));
    for (String text = in.readLine(); text != null; text = in.readLine()) {
      Line line = JSON.readValue(text, Line.class);
      out.println(JSON.writeValueAsString(Ran.with(line.environment(), line.words().split(" +"))));
    }
  }
}
