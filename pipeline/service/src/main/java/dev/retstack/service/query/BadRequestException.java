package dev.retstack.service.query;

/** A question that cannot be answered as it was put. */
final class BadRequestException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final String cure;
  private final int status;

  BadRequestException(String fact, String cure) {
    this(400, fact, cure);
  }

  BadRequestException(int status, String fact, String cure) {
    super(fact);
    this.status = status;
    this.cure = cure;
  }

  String cure() {
    return cure;
  }

  int status() {
    return status;
  }
}
