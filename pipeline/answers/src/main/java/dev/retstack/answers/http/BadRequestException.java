package dev.retstack.answers.http;

/** A question that cannot be answered as it was asked. */
public final class BadRequestException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String cure;
  private final int status;

  public BadRequestException(String fact, String cure) {
    this(400, fact, cure);
  }

  public BadRequestException(int status, String fact, String cure) {
    super(fact);
    this.status = status;
    this.cure = cure;
  }

  public String cure() {
    return cure;
  }

  public int status() {
    return status;
  }
}
