package dev.retstack.graph.check;

/**
 * What must be equal at entry and exit of one call. Pure functions on the values of two records.
 */
public final class FrameCheck {
  private FrameCheck() {}

  /** Whether the exit found another frame pointer than the entry noted. */
  public static boolean framePointerDiffers(boolean meaningful, long atEntry, long atExit) {
    return meaningful && atEntry != atExit;
  }

  /** Whether the stack pointer at exit foretells another slot than the entry hijacked. */
  public static boolean slotDiffers(boolean exact, long atEntry, long atExit) {
    return exact && atEntry != atExit;
  }

  /** Whether another return address was restored than the entry saved. */
  public static boolean returnAddressDiffers(long atEntry, long atExit) {
    return atEntry != atExit;
  }
}
