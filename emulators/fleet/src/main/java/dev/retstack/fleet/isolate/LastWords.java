package dev.retstack.fleet.isolate;

import dev.retstack.schema.wire.Visible;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What a child prints on standard error: logged, and kept if it shows why it died. A JVM that
 * crashes writes a report there, which names the signal and the frame.
 */
final class LastWords {
  private static final Logger LOG = LoggerFactory.getLogger(LastWords.class);
  private static final int LINE_CHARS_MAX = 200;

  /** Such as {@code # SIGSEGV (0xb) at pc=0x00007f..., pid=12, tid=34}. */
  private static final Pattern SIGNAL = Pattern.compile("#\\s+(SIG[A-Z]+) \\(0x([0-9a-f]+)\\).*");

  /** Such as {@code # C [libunicorn.so.2+0x2a1f30] helper_x}, after "Problematic frame:". */
  private static final Pattern FRAME =
      Pattern.compile("# [CVJjv] +\\[?(\\S+?\\+0x[0-9a-f]+)\\]?.*");

  private final Thread reader;
  private volatile String signal = "";
  private volatile String frame = "";
  private volatile String last = "";

  LastWords(InputStream stderr) {
    reader = Thread.ofPlatform().daemon().name("last-words").start(() -> listen(stderr));
  }

  private void listen(InputStream stderr) {
    try (BufferedReader lines =
        new BufferedReader(new InputStreamReader(stderr, StandardCharsets.UTF_8))) {
      for (String line = lines.readLine(); line != null; line = lines.readLine()) {
        LOG.info("{}", line);
        read(line);
      }
    } catch (IOException e) {
      LOG.info("standard error of a child: {}", e.toString());
    }
  }

  private void read(String line) {
    Matcher crash = SIGNAL.matcher(line);
    Matcher place = FRAME.matcher(line);
    if (crash.matches() && signal.isEmpty()) {
      signal = "signal %d (%s)".formatted(Integer.parseInt(crash.group(2), 16), crash.group(1));
    } else if (place.matches() && frame.isEmpty() && !signal.isEmpty()) {
      frame = " in " + place.group(1);
    } else if (!line.isBlank()) {
      last = printable(line.strip());
    }
  }

  /**
   * Why the process ended, in words.
   *
   * @param exitCode as Java has it: 128 and the signal where there was one
   */
  String reason(int exitCode) throws InterruptedException {
    reader.join();
    if (!signal.isEmpty()) {
      return signal + frame;
    }
    String said = last.isEmpty() ? "" : ": " + last;
    return exitCode > 128 ? "signal " + (exitCode - 128) + said : "exit code " + exitCode + said;
  }

  /** A line of a process that nobody vouches for reaches a terminal: short, without controls. */
  static String printable(String text) {
    return Visible.cut(text, LINE_CHARS_MAX);
  }
}
