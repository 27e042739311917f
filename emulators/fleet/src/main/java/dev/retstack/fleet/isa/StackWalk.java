package dev.retstack.fleet.isa;

import dev.retstack.fleet.isa.SiteFacts.Where;
import java.util.List;
import java.util.Optional;
import java.util.function.LongToIntFunction;
import java.util.function.Predicate;

/**
 * A prologue read instruction by instruction, by a list of the forms that matter: those that move
 * the stack pointer and those that save the return address.
 *
 * @param forms the first that matches counts; a longer one stands before a shorter one
 * @param length bytes of an instruction that is none of them, by its code, the first byte lowest
 * @param accept which outcomes are of the convention
 */
public record StackWalk(List<Form> forms, LongToIntFunction length, Predicate<SiteFacts> accept)
    implements Prologue {

  /** Longest prologue that is read, in bytes: more is no prologue. */
  private static final long LONGEST = 1024;

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
  public record Form(String text, int size, long pattern, long mask, Effect effect) {}

  public StackWalk {
    forms = List.copyOf(forms);
  }

  /** Takes every site. */
  static StackWalk of(LongToIntFunction length, Form... forms) {
    return new StackWalk(List.of(forms), length, facts -> true);
  }

  StackWalk accepting(Predicate<SiteFacts> which) {
    return new StackWalk(forms, length, which);
  }

  @Override
  public Optional<SiteFacts> scan(Code code, long function, long site, long after) {
    if (site - function < 0 || site - function > LONGEST) {
      return Optional.of(SiteFacts.NONE).filter(accept);
    }
    Frame frame = new Frame();
    long at = function;
    while (Long.compareUnsigned(at, site) < 0) {
      at += step(code.at(at), frame);
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
    return length.applyAsInt(code);
  }

  /** The frame as far as it is built. Depths are bytes below the stack pointer at the call. */
  public static final class Frame {
    private long depth;
    private long savedDepth;
    private long loaded;
    private Where where = Where.IN_REGISTER;
    private boolean keepsFrame;
    private boolean copied;

    /** The stack pointer went down by so many bytes; up where negative. */
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

    /**
     * The same, with the frame pointer {@code fpDepth} bytes below the stack pointer at the call.
     */
    public void pointAtDepth(long fpDepth, long below) {
      keepsFrame |= where == Where.SAVED && savedDepth == fpDepth + below;
    }

    /** The stack pointer moved by what the code does not tell. */
    public void lose() {
      where = Where.UNKNOWN;
    }

    /** The frame pointer register was set. */
    public void keepFrame() {
      keepsFrame = true;
    }

    /** The return address was copied, and the frame built on the copy. */
    public void copy() {
      copied = true;
    }

    private SiteFacts facts() {
      long savedAt = where == Where.SAVED ? depth - savedDepth : 0;
      return new SiteFacts(where, savedAt, keepsFrame, copied);
    }
  }
}
