package dev.retstack.machine.isa.call;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import java.util.function.LongToIntFunction;

/**
 * Finds out from the code of a function whether it reads return addresses for another purpose than
 * to return: {@code __builtin_return_address}, a walk along frame pointers.
 *
 * <p>It knows the forms that compilers emit. A function that is taken for one that reads is slower,
 * and nothing else.
 */
@FunctionalInterface
public interface ReturnReads {
  /** Instructions behind a load of a frame's address in which its register is used. */
  int CHAINED = 16;

  /** No function is known to read any. */
  ReturnReads UNKNOWN = (code, function, from, end) -> Kind.NONE;

  /** What a function reads. The later one includes the earlier. */
  enum Kind {
    /** The function reads no return address. */
    NONE,
    /** The function reads its return address only. */
    OWN,
    /** The function reads its return address and those of its callers. */
    ALL;

    /** What a function reads that reads both. */
    public Kind and(Kind other) {
      return compareTo(other) < 0 ? other : this;
    }
  }

  /**
   * What a function reads.
   *
   * @param code of the program
   * @param function address of its first instruction
   * @param from where it may find what the tracer has written: behind the call of the counting
   *     function, or {@code function}
   * @param end one past its last byte
   */
  Kind of(Code code, long function, long from, long end);

  /** What this or another finds. */
  default ReturnReads and(ReturnReads other) {
    return (code, function, from, end) ->
        of(code, function, from, end).and(other.of(code, function, from, end));
  }

  /** Looks at all code of a function, also in front of the call of the counting function. */
  default ReturnReads fromStart() {
    return (code, function, from, end) -> of(code, function, function, end);
  }

  /** Whether a function is one of some. */
  @FunctionalInterface
  interface Of {
    /** True where this holds for the function between two addresses. */
    boolean test(Code code, long function, long end);
  }

  /** These reads for functions of {@code some}, and nothing for any other. */
  default ReturnReads where(Of some) {
    return (code, function, from, end) ->
        some.test(code, function, end) ? of(code, function, from, end) : Kind.NONE;
  }

  /**
   * An instruction that reads.
   *
   * @param pattern bits, the first byte lowest, where {@code mask} has ones
   * @param set where the number of the register that it writes stands: bits to the right of it
   * @param setMask and with these bits
   * @param but it reads none where it writes one of these registers, by bit
   * @param kind what it reads
   */
  record Form(long pattern, long mask, int set, long setMask, long but, Kind kind) {
    boolean matches(long code) {
      return ((code ^ pattern) & mask) == 0 && (but >>> (code >>> set & setMask) & 1) == 0;
    }
  }

  /**
   * By instructions that each show by themselves what they read.
   *
   * @param length bytes of the instruction that has this code, the first byte lowest
   */
  static ReturnReads byForms(LongToIntFunction length, Form... forms) {
    List<Form> all = List.of(forms);
    return (code, function, from, end) -> {
      Kind kind = Kind.NONE;
      for (long at = from; at - end < 0; ) {
        long there = code.at(at);
        for (Form form : all) {
          kind = form.matches(there) ? kind.and(form.kind()) : kind;
        }
        at += length.applyAsInt(there);
      }
      return kind;
    };
  }

  /**
   * An instruction that copies a register or loads a word.
   *
   * @param to number of the register that it writes
   * @param from number of the one that it copies, or that has the address
   * @param isLoad true for a load
   * @param offset bytes behind that address
   */
  record Transfer(int to, int from, boolean isLoad, long offset) {}

  /**
   * Along a chain of frames: the word at the stack pointer is the address of the caller's frame.
   *
   * @param length bytes of the instruction that has this code, the first byte lowest
   * @param transfer what the instruction does that has this code; null where it is none
   * @param sp number of the stack pointer
   * @param fp number of the frame pointer
   * @param savedAt bytes from a frame's address to where the function that it is the caller of
   *     saves its return address
   * @param scratch number of the register by which functions load it to return
   */
  static ReturnReads byChain(
      LongToIntFunction length,
      LongFunction<Transfer> transfer,
      int sp,
      int fp,
      long savedAt,
      int scratch) {
    return (code, function, from, end) -> {
      Kind kind = Kind.NONE;
      Map<Integer, long[]> frames = new HashMap<>(); // register: frames up, until where it is known
      frames.put(sp, new long[] {0, Long.MAX_VALUE});
      int number = 0;
      for (long at = function; at - end < 0; at += length.applyAsInt(code.at(at))) {
        number++;
        Transfer done = transfer.apply(code.at(at));
        long[] frame = done == null ? null : frames.get(done.from);
        boolean isKnown = frame != null && number <= frame[1] && done.to != sp;
        if (!isKnown) {
          continue;
        }
        if (!done.isLoad && done.from == sp && done.to == fp) {
          frames.put(fp, new long[] {0, Long.MAX_VALUE});
        } else if (!done.isLoad && done.from == fp) {
          kind = Kind.ALL;
        } else if (done.isLoad && done.offset == savedAt && frame[0] > 0 && done.to != scratch) {
          kind = kind.and(frame[0] == 1 ? Kind.OWN : Kind.ALL);
        } else if (done.isLoad && done.offset == 0) {
          frames.put(done.to, new long[] {frame[0] + 1, number + CHAINED});
        }
      }
      return kind;
    };
  }
}
