package dev.retstack.fleet.isolate;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Runs mutants of images in a process of their own, a {@link MutantHost}, since a guest can kill
 * the emulator's process. After its death it is started again. For one thread.
 */
public final class MutantRunner implements AutoCloseable {
  private static final int SECONDS_MAX = 60;
  private static final int END_SECONDS_MAX = 10;

  /** In the name of the probe in C: what dies there is no guest's doing. */
  private static final String OWN_LIBRARY = "retstack-probe";

  /** What came of a mutant. */
  public enum Kind {
    /** A core ran a slice, or told in words why there can be none. */
    RUN,
    /** The image has no site, or is of another ABI. */
    REFUSED,
    /** The emulator died of it, by a signal: the guest's doing. */
    DIED,
    /**
     * An exception that nothing documents, a process that ended itself, a crash in the probe in C,
     * or no answer: a defect.
     */
    DEFECT
  }

  /**
   * What came of a mutant.
   *
   * @param kind in a word
   * @param reason in words; may be empty where it ran
   */
  public record Outcome(Kind kind, String reason) {}

  private final ExecutorService reader =
      Executors.newSingleThreadExecutor(
          Thread.ofPlatform().daemon().name("mutant-reader-", 0).factory());
  private Process child;
  private DataOutputStream toChild;
  private DataInputStream fromChild;
  private LastWords words;

  /** Runs a slice of a mutant. */
  public Outcome run(byte[] mutant) throws IOException, InterruptedException {
    if (child == null) {
      start();
    }
    try {
      String answer = reader.submit(() -> ask(mutant)).get(SECONDS_MAX, TimeUnit.SECONDS);
      int space = answer.indexOf(' ');
      return new Outcome(Kind.valueOf(answer.substring(0, space)), answer.substring(space + 1));
    } catch (TimeoutException e) {
      close();
      return new Outcome(Kind.DEFECT, "no answer within %d s".formatted(SECONDS_MAX));
    } catch (ExecutionException e) {
      return died();
    }
  }

  private String ask(byte[] mutant) throws IOException {
    toChild.writeInt(mutant.length);
    toChild.write(mutant);
    toChild.flush();
    return fromChild.readUTF();
  }

  /** A JVM that ends itself does so because of an exception in an upcall, or for want of memory. */
  private Outcome died() throws InterruptedException {
    if (!child.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
      child.destroyForcibly().waitFor();
    }
    String reason = words.reason(child.exitValue());
    child = null;
    boolean guest = reason.startsWith("signal ") && !reason.contains(OWN_LIBRARY);
    return new Outcome(guest ? Kind.DIED : Kind.DEFECT, reason);
  }

  private void start() throws IOException {
    child = new ProcessBuilder(HostProcess.command(MutantHost.class)).start();
    words = new LastWords(child.getErrorStream());
    toChild = new DataOutputStream(new BufferedOutputStream(child.getOutputStream(), 1 << 16));
    fromChild = new DataInputStream(new BufferedInputStream(child.getInputStream()));
  }

  @Override
  public void close() {
    if (child != null) {
      child.destroyForcibly();
      child = null;
    }
  }
}
