package dev.retstack.machine.isa.call;

/**
 * What the code around a call site shows about it.
 *
 * @param where the function's return address is when the site runs
 * @param savedAt where it was saved: bytes from the stack pointer at the site up to it
 * @param frameBytes bytes from the stack pointer at the site up to where it was when the function
 *     was called, the CFA of DWARF
 * @param keepsFrame true where the function makes a frame that the frame pointer register names
 * @param copied true where the return address in the frame is a copy, by which the function does
 *     not return: a hijack of it misses the exit (gcc, realignment of the stack under -pg)
 */
public record SiteFacts(
    Where where, long savedAt, long frameBytes, boolean keepsFrame, boolean copied) {

  /** Where a return address is. */
  public enum Where {
    /** On the stack. */
    SAVED,
    /** In the register that the call left it in. */
    IN_REGISTER,
    /** The code does not show it. */
    UNKNOWN,
    /**
     * The code does something that is not read: the function is to be entered at its first
     * instruction, where the ABI says where the return address is.
     */
    UNREAD
  }

  /** Nothing is known, and nothing has to be. */
  public static final SiteFacts NONE = new SiteFacts(Where.UNKNOWN, 0, 0, false, false);

  /** Left in its register. */
  public static final SiteFacts IN_REGISTER = new SiteFacts(Where.IN_REGISTER, 0, 0, false, false);

  /** The return address was saved this many bytes above the stack pointer. */
  public static SiteFacts savedAt(long offset) {
    return new SiteFacts(Where.SAVED, offset, 0, false, false);
  }

  /** The return address was saved so far, and the frame reaches so far, above the stack pointer. */
  public SiteFacts withFrame(long saved, long bytes) {
    return new SiteFacts(where, saved, bytes, keepsFrame, copied);
  }

  public SiteFacts withKeepsFrame(boolean value) {
    return new SiteFacts(where, savedAt, frameBytes, value, copied);
  }

  public SiteFacts withWhere(Where place) {
    return new SiteFacts(place, savedAt, frameBytes, keepsFrame, copied);
  }

  public SiteFacts withCopied(boolean value) {
    return new SiteFacts(where, savedAt, frameBytes, keepsFrame, value);
  }
}
