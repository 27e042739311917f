// Generated from unicorn.h of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
package dev.retstack.unicorn;

/** The error codes of Unicorn ({@code uc_err}). */
public enum UcError {
  OK(0),
  NOMEM(1),
  ARCH(2),
  HANDLE(3),
  MODE(4),
  VERSION(5),
  READ_UNMAPPED(6),
  WRITE_UNMAPPED(7),
  FETCH_UNMAPPED(8),
  HOOK(9),
  INSN_INVALID(10),
  MAP(11),
  WRITE_PROT(12),
  READ_PROT(13),
  FETCH_PROT(14),
  ARG(15),
  READ_UNALIGNED(16),
  WRITE_UNALIGNED(17),
  FETCH_UNALIGNED(18),
  HOOK_EXIST(19),
  RESOURCE(20),
  EXCEPTION(21),
  OVERFLOW(22),
  /** A code that these headers do not know. */
  UNKNOWN(-1);

  private static final UcError[] VALUES = values();

  private final int code;

  UcError(int code) {
    this.code = code;
  }

  /** Returns the number that the C interface uses. */
  public int code() {
    return code;
  }

  /** Returns the error of a code of the C interface. */
  static UcError of(int code) {
    for (UcError error : VALUES) {
      if (error.code == code) {
        return error;
      }
    }
    return UNKNOWN;
  }
}
