package dev.retstack.schema.record;

import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * How a core ended, in the words of {@code Chunk.endDetail}. Only this class writes and reads them.
 * Words without a code or a place have none.
 */
public final class EndDetail {
  private static final Pattern CODE =
      Pattern.compile("(?:exited with code |entry point returned )(-?\\d{1,10})");

  private static final Pattern SIGNAL = Pattern.compile("killed by signal (\\d{1,3}): .*");

  private static final Pattern PLACE =
      Pattern.compile("\\bby pc (?:\\S{1,1000} \\()?0x([0-9a-f]{1,16})\\b");

  private static final String WAITS = "waits for an interrupt that never comes";

  private EndDetail() {}

  /**
   * The processor waits, and there is nothing that would wake it. Some programs end so on purpose,
   * others hang: which one it is nobody can see from outside, so the words are for both.
   *
   * @param timed whether it has timers: they count instructions, of which a waiting one has none
   */
  public static String waiting(String symbol, boolean timed) {
    return WAITS
        + byPc(symbol)
        + (timed
            ? ": if the program ends here, return from its entry point instead; if not, let it"
                + " spin, since timers count instructions"
            : ": if the program ends here, return from its entry point or jump to itself instead;"
                + " if not, interrupt it with --timer");
  }

  /** Whether these are the words of {@link #waiting}. */
  public static boolean waits(String detail) {
    return detail.startsWith(WAITS);
  }

  /** The program asked for its end. */
  public static String exited(int code) {
    return "exited with code " + code;
  }

  /** The function that was called first returned. */
  public static String returned(int result) {
    return "entry point returned " + result;
  }

  /** A signal that the program did not handle. */
  public static String killed(int signal, String why) {
    return "killed by signal " + signal + ": " + why;
  }

  /** What a message says behind what happened: where the core stood. */
  public static String byPc(String symbol) {
    return " by pc " + symbol;
  }

  /** What a shell would call the program's exit code; empty where it has none. */
  public static OptionalInt exitCode(String detail) {
    Matcher code = CODE.matcher(detail);
    if (code.matches()) {
      long value = Long.parseLong(code.group(1));
      return value == (int) value ? OptionalInt.of((int) value) : OptionalInt.empty();
    }
    Matcher signal = SIGNAL.matcher(detail);
    return signal.matches()
        ? OptionalInt.of(128 + Integer.parseInt(signal.group(1)))
        : OptionalInt.empty();
  }

  /** Address of the instruction at which the core stood; empty where nobody said it. */
  public static OptionalLong place(String detail) {
    Matcher place = PLACE.matcher(detail);
    return place.find()
        ? OptionalLong.of(Long.parseUnsignedLong(place.group(1), 16))
        : OptionalLong.empty();
  }
}
