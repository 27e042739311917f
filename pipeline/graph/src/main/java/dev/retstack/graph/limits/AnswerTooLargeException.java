package dev.retstack.graph.limits;

/** What was asked for takes more memory than an answer may. */
public final class AnswerTooLargeException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String cure;

  /**
   * An answer that is given up.
   *
   * @param fact with the bound
   * @param cure how to ask for less
   */
  public AnswerTooLargeException(String fact, String cure) {
    super(fact);
    this.cure = cure;
  }

  /** How to ask for less. */
  public String cure() {
    return cure;
  }
}
