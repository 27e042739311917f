package dev.retstack.schema.file;

/** The file ended inside something. Never leaves the package. */
final class CutOffException extends Exception {
  private static final long serialVersionUID = 1;

  CutOffException(String inside) {
    super(inside);
  }
}
