package dev.retstack.fleet.zoo;

/** What is checked of a program in an image. */
public enum Check {
  /** Records give the call tree of the program's {@code .tree} file. */
  TREE("the call tree is the expected one"),
  /** Entries of each function are those of the {@code .counts} file and of {@link Counter}. */
  COUNTS("calls are those of an independent counter"),
  /** What the program prints, and how it ends, is the same without the tracer. */
  OUTPUT("output and end are those of an untraced run"),
  /** The virtual clock is what a hook on every instruction counts. */
  CLOCK("the clock counts the program's instructions and no others"),
  /** Records are the same whatever the slice and the batch. */
  SLICES("records are the same for any slice and batch"),
  /** Every register that may hold a result passes the landing page; one program is made for it. */
  REGISTERS("result registers survive the way out");

  private final String sentence;

  Check(String sentence) {
    this.sentence = sentence;
  }

  /** In words. */
  public String sentence() {
    return sentence;
  }
}
