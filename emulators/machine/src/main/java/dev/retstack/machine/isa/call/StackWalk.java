package dev.retstack.machine.isa.call;

import dev.retstack.machine.isa.call.SiteFacts.Where;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Optional;
import java.util.function.LongPredicate;
import java.util.function.LongToIntFunction;
import java.util.function.Predicate;

/**
 * Reads a prologue instruction by instruction. It knows only the forms that move the stack pointer
 * or save the return address.
 *
 * @param forms the first that matches counts; a longer one stands before a shorter one
 * @param length bytes of an instruction that is none of them, by its code, the first byte lowest
 * @param accept which outcomes are of the convention
 * @param unread true for an instruction that is none of the forms and moves the stack pointer, or
 *     after which another one may follow than the next: then nothing is known any more
 * @param atFirst where the return address is before the first instruction: saved, at the stack
 *     pointer, where calls push it
 */
public record StackWalk(
    List<Form> forms,
    LongToIntFunction length,
    Predicate<SiteFacts> accept,
    LongPredicate unread,
    Where atFirst)
    implements Prologue {

  /** Longest prologue that is read, in bytes: no prologue has more. */
  private static final long LONGEST = 1024;

  /** Length of a form whose rest is not read. */
  private static final int REST = (int) LONGEST + 1;

  /** What an instruction does to the frame. */
  @FunctionalInterface
  public interface Effect {
    /**
     * Notes it.
     *
     * @param code the instruction's bytes, the first one lowest
     */
    void on(long code, Frame frame);
  }

  /**
   * An instruction of a prologue.
   *
   * @param text as an assembler prints it
   * @param size bytes
   * @param pattern bits, the first byte lowest, where {@code mask} has ones
   */
  public record Form(String text, int size, long pattern, long mask, Effect effect) {
    /** A form in hex bytes in the order of memory, {@code ..} for one that may be anything. */
    public static Form bytes(String text, String bytes, Effect effect) {
      CallForm form = CallForm.direct(text, bytes, (address, code) -> 0);
      return new Form(text, form.size(), form.pattern(), form.mask(), effect);
    }

    /**
     * A form of four bytes in the byte order of the ISA, as the architecture's manual writes it.
     */
    public static Form word(
        ByteOrder order, String text, int pattern, int mask, WordEffect effect) {
      return new Form(
          text,
          Integer.BYTES,
          Integer.toUnsignedLong(Code.word(order, pattern)),
          Integer.toUnsignedLong(Code.word(order, mask)),
          (code, frame) -> effect.on(Code.word(order, code), frame));
    }
  }

  /** What an instruction of four bytes does to the frame. */
  @FunctionalInterface
  public interface WordEffect {
    /**
     * Notes it.
     *
     * @param word the instruction as a number
     */
    void on(int word, Frame frame);
  }

  public StackWalk {
    forms = List.copyOf(forms);
  }

  /** Takes every site. */
  public static StackWalk of(LongToIntFunction length, Form... forms) {
    return new StackWalk(List.of(forms), length, facts -> true, code -> false, Where.IN_REGISTER);
  }

  /**
   * Reads up to the first instruction that is none of the forms, for ISAs where its length is hard
   * to find and calls push the return address. Takes every site.
   */
  public static StackWalk ofPushing(Form... forms) {
    return new StackWalk(List.of(forms), code -> REST, facts -> true, code -> false, Where.SAVED);
  }

  /** This walk, where an instruction must show where the return address is. */
  public StackWalk untilTold() {
    return new StackWalk(forms, length, accept, unread, Where.UNKNOWN);
  }

  public StackWalk accepting(Predicate<SiteFacts> which) {
    return new StackWalk(forms, length, which, unread, atFirst);
  }

  /** This walk, which knows nothing any more behind such an instruction. */
  public StackWalk upTo(LongPredicate which) {
    return new StackWalk(forms, length, accept, which, atFirst);
  }

  /** This walk, which knows nothing of a function whose frame pointer points at no frame. */
  public Prologue byFrame() {
    return (code, function, site, after) ->
        scan(code, function, site, after)
            .map(f -> f.keepsFrame() || function == site ? f : f.withWhere(Where.UNREAD));
  }

  @Override
  public Optional<SiteFacts> scan(Code code, long function, long site, long after) {
    if (site - function < 0 || site - function > LONGEST) {
      return Optional.of(SiteFacts.NONE.withWhere(Where.UNREAD)).filter(accept);
    }
    Frame frame = new Frame(atFirst);
    frame.at = function;
    for (int steps = 0; frame.goesOnTo(site); steps++) {
      if (steps > LONGEST) {
        frame.cannotRead();
      }
      int size = step(code.at(frame.at), frame);
      frame.at += size;
    }
    return Optional.of(frame.facts()).filter(accept);
  }

  private int step(long code, Frame frame) {
    for (Form form : forms) {
      if (((code ^ form.pattern()) & form.mask()) == 0) {
        form.effect().on(code, frame);
        return form.size();
      }
    }
    if (unread.test(code)) {
      frame.cannotRead();
    }
    return length.applyAsInt(code);
  }

  /** The frame as far as it is built. Depths are bytes below the stack pointer at the call. */
  public static final class Frame {
    private long depth;
    private long savedDepth;
    private long loaded;
    private Where where;
    private boolean keepsFrame;
    private boolean copied;
    private boolean unread;

    /** Address of the instruction that is read. */
    private long at;

    /**
     * Where the routine returns that is read in place of a call of it; 0 in the function itself.
     */
    private long back;

    private Frame(Where atFirst) {
      where = atFirst;
    }

    /** Moves the stack pointer down by this many bytes; up where negative. */
    public void grow(long bytes) {
      depth += bytes;
    }

    /**
     * The return address was stored at the stack pointer plus {@code offset}. The first time
     * counts: that is what the function returns by, a later one is for the counting function.
     */
    public void save(long offset) {
      if (where == Where.IN_REGISTER) {
        savedDepth = depth - offset;
        where = Where.SAVED;
      }
    }

    /** A register was loaded with a number, which the stack pointer will be moved by. */
    public void load(long number) {
      loaded = number;
    }

    /** That number was added to. */
    public void addToLoaded(long number) {
      loaded += number;
    }

    /** The number. */
    public long loaded() {
      return loaded;
    }

    /**
     * The frame pointer register was set to the stack pointer plus {@code offset}. It makes a frame
     * where the return address was saved {@code below} bytes under that; else the register holds
     * the address of something else.
     */
    public void point(long offset, long below) {
      pointAtDepth(depth - offset, below);
    }

    /** Notes a frame pointer {@code fpDepth} bytes below the stack pointer at the call. */
    public void pointAtDepth(long fpDepth, long below) {
      keepsFrame |= where == Where.SAVED && savedDepth == fpDepth + below;
    }

    /** Notes that the return address was saved at the stack pointer plus this. */
    public void tellSaved(long offset) {
      savedDepth = depth - offset;
      where = Where.SAVED;
    }

    /** Notes that the return address stays in its register. */
    public void tellInRegister() {
      where = Where.IN_REGISTER;
    }

    /** Notes that the stack pointer moved by an unknown distance. */
    public void lose() {
      where = Where.UNKNOWN;
    }

    private boolean goesOnTo(long site) {
      return !unread && (back != 0 || Long.compareUnsigned(at, site) < 0);
    }

    /** From here on nothing is known. */
    void cannotRead() {
      unread = true;
    }

    /** The address of the instruction. */
    public long at() {
      return at;
    }

    /**
     * A routine is called that makes part of the frame: it is read next.
     *
     * @param size of the call
     */
    public void call(long routine, int size) {
      unread |= back != 0;
      back = at + size;
      at = routine - size;
    }

    /**
     * Follows a jump of a routine.
     *
     * @param size of the jump
     */
    public void jump(long to, int size) {
      unread |= back == 0;
      at = to - size;
    }

    /**
     * Returns from a routine.
     *
     * @param size of its return
     */
    public void comeBack(int size) {
      unread |= back == 0;
      at = back - size;
      back = 0;
    }

    /** A word that may be the return address was pushed: a copy of it, after {@link #lose}. */
    public void pushAgain() {
      copied |= where == Where.UNKNOWN;
    }

    private SiteFacts facts() {
      if (unread) {
        return SiteFacts.NONE.withWhere(Where.UNREAD);
      }
      long savedAt = where == Where.SAVED ? depth - savedDepth : 0;
      return new SiteFacts(where, savedAt, depth, keepsFrame, copied);
    }
  }
}
