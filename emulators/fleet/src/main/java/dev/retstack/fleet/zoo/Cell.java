package dev.retstack.fleet.zoo;

/**
 * The outcome of one check.
 *
 * @param image file name
 * @param program name
 * @param check what was checked
 * @param fault what is wrong, in one line; empty where it passed
 */
public record Cell(String image, String program, Check check, String fault) {
  public boolean passed() {
    return fault.isEmpty();
  }

  public boolean failed() {
    return !passed();
  }
}
