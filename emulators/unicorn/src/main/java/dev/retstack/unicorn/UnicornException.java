package dev.retstack.unicorn;

import java.util.Arrays;
import java.util.stream.Collectors;

/** A call into Unicorn that ended with an error. */
public class UnicornException extends RuntimeException {
  private final UcError error;

  UnicornException(String message, int code) {
    super(message);
    this.error = UcError.of(code);
  }

  /** Throws for an error code; the arguments go into the message. */
  static void check(int code, String function, long... arguments) {
    if (code != 0) {
      String hex =
          Arrays.stream(arguments)
              .mapToObj(a -> "0x" + Long.toHexString(a))
              .collect(Collectors.joining(", ", "(", ")"));
      throw of(function + hex, code);
    }
  }

  /** Returns the exception that fits an error code, with the library's own words for it. */
  static UnicornException of(String call, int code) {
    String message =
        "%s: %s (error %d %s)"
            .formatted(call, NativeUnicorn.errorText(code), code, UcError.of(code));
    return switch (UcError.of(code)) {
      case READ_UNMAPPED,
          WRITE_UNMAPPED,
          FETCH_UNMAPPED,
          READ_PROT,
          WRITE_PROT,
          FETCH_PROT,
          READ_UNALIGNED,
          WRITE_UNALIGNED,
          FETCH_UNALIGNED ->
          new UnicornMemoryException(message, code);
      case OK,
          NOMEM,
          ARCH,
          HANDLE,
          MODE,
          VERSION,
          HOOK,
          INSN_INVALID,
          MAP,
          ARG,
          HOOK_EXIST,
          RESOURCE,
          EXCEPTION,
          OVERFLOW,
          UNKNOWN ->
          new UnicornException(message, code);
    };
  }

  /** Returns what went wrong. */
  public UcError error() {
    return error;
  }
}
