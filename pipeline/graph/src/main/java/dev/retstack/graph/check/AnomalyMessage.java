package dev.retstack.graph.check;

import static dev.retstack.graph.symbol.SymbolTable.hex;

import dev.retstack.graph.symbol.FunctionNames;

/** The sentence that explains an anomaly: function, expected, received, and where it returns to. */
public final class AnomalyMessage {
  /** What is said first of a trace that was cut off, wherever anything of it is shown. */
  public static final String CUT = "the trace was cut off: what came behind the cut is missing";

  private AnomalyMessage() {}

  /** Message of an anomaly in one line, lower case, with addresses in hex and symbol+offset. */
  public static String of(Anomaly a, FunctionNames symbols) {
    return of(a, symbols, "");
  }

  /**
   * Message of an anomaly in one line, lower case, with addresses in hex and symbol+offset.
   *
   * @param endDetail how the core ended, in words; empty while it runs
   */
  public static String of(Anomaly a, FunctionNames symbols, String endDetail) {
    return switch (a.kind()) {
      case FAULTED ->
          "core faulted: %s; %s"
              .formatted(
                  endDetail.isEmpty() ? "no reason was given" : endDetail,
                  a.selfPc() == 0
                      ? "no call is open"
                      : "in func " + symbols.symbolPlusOffset(a.selfPc()));
      case FRAME_POINTER_MISMATCH ->
          mismatch("frame pointer differs", hex(a.expected()), hex(a.received()), a, symbols);
      case RETURN_ADDRESS_MISMATCH ->
          a.variant() == Anomaly.Variant.SLOT
              ? mismatch(
                  "return address slot differs", hex(a.expected()), hex(a.received()), a, symbols)
              : mismatch(
                  "return address differs",
                  place(a.expected(), symbols),
                  place(a.received(), symbols),
                  a,
                  symbols);
      case MISSED_EXIT ->
          "missed exit: expected func %s to return to %s through the slot at %s, received %s; "
                  .formatted(
                      symbols.symbolPlusOffset(a.selfPc()),
                      place(a.expected(), symbols),
                      hex(a.target()),
                      insteadOf(a, symbols))
              + "it realigns its stack, -pg saw a copy of its return address, and it returned by "
              + "the original: compile it with -mfentry, or with -maccumulate-outgoing-args if that "
              + "helps (no alloca, no variable-length array)";
      case STACK_SMASHED ->
          "return address overwritten: expected %s, received %s; from func %s through the slot at %s"
              .formatted(
                  place(a.expected(), symbols),
                  place(a.received(), symbols),
                  symbols.symbolPlusOffset(a.selfPc()),
                  hex(a.target()));
      case MISPLACED_EXIT ->
          mismatch(
              "exit without a matching entry",
              a.expected() == 0 ? "no open call" : "func " + symbols.symbolPlusOffset(a.expected()),
              "func " + symbols.symbolPlusOffset(a.received()),
              a,
              symbols);
      case KEYFRAME_MISMATCH ->
          "frame %d differs from the core's: expected %s, received %s"
              .formatted(
                  a.target(),
                  frame(a.expected(), a.variant(), symbols),
                  frame(a.received(), a.variant(), symbols)
                      + (a.variant() == Anomaly.Variant.PLAIN
                          ? ""
                          : " in func " + symbols.symbolPlusOffset(a.selfPc())));
      case OVERRUN ->
          "ret_stack was full: %s ran untraced"
              .formatted(
                  a.selfPc() == 0
                      ? Count.of(a.count(), "call")
                      : "func " + symbols.symbolPlusOffset(a.selfPc()));
      case LOST ->
          "%s dropped at the core before they were drained"
              .formatted(Count.of(a.count(), "record"));
      case SEQUENCE_GAP ->
          "sequence gap: expected chunk %d, received chunk %d: %s missing"
              .formatted(a.expected(), a.received(), Count.of(a.count(), "record"));
      case TRUNCATED ->
          "%s cut off by a loss: when they ended is unknown"
              .formatted(Count.of(a.count(), "open call"));
      case CUT_TRACE -> CUT;
    };
  }

  /** What came in place of an exit. */
  private static String insteadOf(Anomaly a, FunctionNames symbols) {
    return a.received() == 0
        ? "the end of the interrupt"
        : "func " + symbols.symbolPlusOffset(a.received());
  }

  private static String frame(long value, Anomaly.Variant what, FunctionNames symbols) {
    return switch (what) {
      case PLAIN -> value == 0 ? "no call" : "func " + symbols.symbolPlusOffset(value);
      case FROM_PC -> "return to " + place(value, symbols);
      case SLOT -> "slot at " + hex(value);
      case FP -> "frame pointer " + hex(value);
      case TIME -> "entry at " + value;
    };
  }

  private static String mismatch(
      String what, String expected, String received, Anomaly a, FunctionNames symbols) {
    return "%s: expected %s, received %s; from func %s return to %s"
        .formatted(
            what,
            expected,
            received,
            symbols.symbolPlusOffset(a.selfPc()),
            place(a.target(), symbols));
  }

  /** A code address with its name: {@code main+0x1c (0x40115c)}, or the number alone. */
  private static String place(long address, FunctionNames symbols) {
    return symbols.covers(address)
        ? symbols.symbolPlusOffset(address) + " (" + symbols.address(address) + ")"
        : symbols.address(address);
  }
}
