package dev.retstack.fleet.zoo;

/**
 * The outcome of one check.
 *
 * @param image file name
 * @param program name
 * @param check what was checked
 * @param fault what is wrong, in one line; empty where it passed
 * @param limit why it cannot pass, where that is known and declared; else empty
 */
public record Cell(String image, String program, Check check, String fault, String limit) {
  /** Where nothing is known to be impossible. */
  public Cell(String image, String program, Check check, String fault) {
    this(image, program, check, fault, "");
  }

  public boolean passed() {
    return fault.isEmpty();
  }

  /** True where it did not pass, and was not expected to. */
  public boolean limited() {
    return !limit.isEmpty() && !passed();
  }

  /** True where it did not pass, and should have. */
  public boolean failed() {
    return !passed() && !limited();
  }
}
