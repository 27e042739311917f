package dev.retstack.service.kafka;

import java.io.IOException;

/**
 * Topics or state of another version than this release reads. Nothing is changed. The cure is
 * another place, or the release that wrote it.
 */
public final class OtherVersionException extends IOException {
  private static final long serialVersionUID = 1;

  /**
   * @param what in which the version was found, with its place
   * @param reads the version that is read here
   * @param cure how to begin anew
   */
  public OtherVersionException(String what, int found, int reads, String cure) {
    super(
        "%s is of version %d, this release reads version %d: %s, or run the release that wrote it"
            .formatted(what, found, reads, cure));
  }
}
