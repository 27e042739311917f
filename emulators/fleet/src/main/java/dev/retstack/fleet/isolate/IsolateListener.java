package dev.retstack.fleet.isolate;

import dev.retstack.fleet.progress.FleetListener;
import java.util.List;

/**
 * Receives the progress of an isolated fleet. Calls come from several threads, never two at a time.
 */
public interface IsolateListener extends FleetListener {
  /** A child runs; it will run cores of that image. */
  default void processStarted(long pid, String image) {}

  /** A child died before its cores had ended. */
  default void processDied(ProcessDeath death) {}

  /**
   * A child that died before its cores had ended.
   *
   * @param pid of the child
   * @param image name of the image whose cores it ran
   * @param reason in words: {@code signal 11 (SIGSEGV) in libunicorn.so.2+0x2a1f30}
   * @param cores that had not ended; each has got a last chunk, FAULTED
   * @param restarted names under which these cores were started again; empty where they were not
   */
  record ProcessDeath(
      long pid, String image, String reason, List<String> cores, List<String> restarted) {
    public ProcessDeath {
      cores = List.copyOf(cores);
      restarted = List.copyOf(restarted);
    }
  }
}
