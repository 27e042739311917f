package dev.retstack.graph.input;

import java.util.stream.Stream;

/**
 * What cores and images are called where several sessions are shown: {@code algo-0 · session NAME}.
 *
 * @param several whether there are several, so that a name alone does not say which is meant
 */
public record SessionNames(boolean several) {
  /** Names where these sessions are shown. */
  public static SessionNames of(Stream<String> sessions) {
    return new SessionNames(sessions.distinct().limit(2).count() > 1);
  }

  /** A core, or something else of that session. */
  public String name(String name, String session) {
    return several && !session.isEmpty() ? name + " · session " + session : name;
  }

  /** A core. */
  public String name(CoreKey core) {
    return name(core.core(), core.session());
  }
}
