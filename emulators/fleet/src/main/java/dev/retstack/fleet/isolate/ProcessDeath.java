package dev.retstack.fleet.isolate;

import java.util.List;

/**
 * A child that died before its cores had ended.
 *
 * @param pid of the child
 * @param image name of the image whose cores it ran
 * @param reason in words: {@code signal 11 (SIGSEGV) in libunicorn.so.2+0x2a1f30}
 * @param cores that had not ended; each has got a last chunk, FAULTED
 * @param restarted names under which these cores were started again; empty where they were not
 */
public record ProcessDeath(
    long pid, String image, String reason, List<String> cores, List<String> restarted) {
  public ProcessDeath {
    cores = List.copyOf(cores);
    restarted = List.copyOf(restarted);
  }
}
