package dev.retstack.machine.isa.call;

import it.unimi.dsi.fastutil.longs.Long2ObjectMap;
import it.unimi.dsi.fastutil.longs.Long2ObjectOpenHashMap;
import java.util.function.LongToIntFunction;

/**
 * Whether a function reads the return address that comes in a register. It follows the address from
 * register to register, along all branches, until they are overwritten:
 *
 * <pre>
 *   saved once on a way         to return by it
 *   saved again                 a read: the compiler keeps a copy for later
 *   an argument or a result     a read
 *   any other operand           a read
 * </pre>
 *
 * @param length bytes of the instruction that has this code, the first byte lowest
 * @param steps what each instruction does
 * @param link number of the register in which the address comes; registers are below 64
 * @param kept registers that calls keep, by bit
 * @param passed registers of arguments and results, by bit
 * @param frames registers that point into a frame, by bit
 * @param givesBack true where the counting function leaves the address in {@code link}
 * @param delays true where the instruction behind a jump comes before it
 */
public record LinkReads(
    LongToIntFunction length,
    Steps steps,
    int link,
    long kept,
    long passed,
    long frames,
    boolean givesBack,
    boolean delays)
    implements ReturnReads {

  /** For an ISA where jumps are done at once. */
  public LinkReads(
      LongToIntFunction length,
      Steps steps,
      int link,
      long kept,
      long passed,
      long frames,
      boolean givesBack) {
    this(length, steps, link, kept, passed, frames, givesBack, false);
  }

  /** What instructions do with registers. */
  @FunctionalInterface
  public interface Steps {
    /** Reports to a way what the instruction at an address does. */
    void step(long at, long code, Way way);
  }

  @Override
  public Kind of(Code code, long function, long from, long end) {
    Way way = new Way(function, from, end);
    do {
      way.hasChanged = false;
      for (long at = function; at - end < 0 && !way.isRead; at = way.next) {
        long there = code.at(at);
        way.next = at + length.applyAsInt(there);
        way.arrive(at, way.next + length.applyAsInt(code.at(way.next)) == from);
        Runnable jump = way.jump;
        way.jump = null;
        steps.step(at, there, way);
        if (jump != null) {
          jump.run();
        }
        way.conditional -= way.conditional > 0 ? 1 : 0;
      }
    } while (way.hasChanged && !way.isRead);
    return way.isRead ? Kind.OWN : Kind.NONE;
  }

  /** Through a function: the registers that may have the address, by bit. */
  public final class Way {
    private final Long2ObjectMap<long[]> targets = new Long2ObjectOpenHashMap<>();
    private final long function;
    private final long from;
    private final long end;

    /** What holds where jumps go whose targets are in a table: as {@link #now}. */
    private final long[] elsewhere = new long[2];

    /** Where the address was not saved, and where it was: the registers that may have it. */
    private final long[] now = new long[2];

    /** What is done behind the next instruction; null for nothing. */
    private Runnable jump;

    /** Instructions from this one on that depend on a condition. */
    private int conditional;

    private long next;
    private boolean isInFront;
    private boolean hasChanged;
    private boolean isRead;

    Way(long function, long from, long end) {
      this.function = function;
      this.from = from;
      this.end = end;
      targets.put(function, new long[] {1L << link, 0});
    }

    private void arrive(long address, boolean inFront) {
      if (address == function) {
        keeps(0);
        jump = null;
      }
      long[] known = targets.get(address);
      if (known != null) {
        join(now, known);
      }
      isInFront = inFront;
    }

    private static void join(long[] to, long[] more) {
      to[0] |= more[0];
      to[1] |= more[1];
    }

    private void keeps(long registers) {
      now[0] &= registers;
      now[1] &= registers;
    }

    private boolean has(long registers) {
      return ((now[0] | now[1]) & registers) != 0;
    }

    /**
     * The next instructions, this one included, are conditional; a register that they write counts
     * as written.
     */
    public void conditionally(int instructions) {
      conditional = instructions;
    }

    /** Uses a register. */
    public void reads(int register) {
      isRead |= has(1L << register);
    }

    /** Uses a register as the base of an address, where the number 0 stands for none. */
    public void readsBase(int register) {
      if (register != 0) {
        reads(register);
      }
    }

    /** Stores a register at a distance from another: in the frame, or elsewhere, which is a use. */
    public void stores(int register, int base) {
      if ((frames >>> base & 1) != 0) {
        saves(register);
      } else {
        reads(register);
      }
    }

    /** Stores a register in the frame; in front of the counting function's call for it alone. */
    public void saves(int register) {
      if (has(1L << register) && !(givesBack && isInFront)) {
        isRead |= (now[1] >>> register & 1) != 0;
        now[1] |= now[0];
        now[0] = 0;
      }
    }

    /** Gives a register another value. */
    public void writes(int register) {
      keeps(~(1L << register));
    }

    /** Copies a register to another. */
    public void copies(int register, int to) {
      for (int i = 0; i < now.length; i++) {
        now[i] = (now[i] & ~(1L << to)) | (((now[i] >>> register) & 1) << to);
      }
    }

    /** Calls a function. */
    public void calls() {
      later(this::call);
    }

    private void call() {
      boolean isCounting = next == from;
      isRead |= !isCounting && has(passed);
      keeps(kept | (isCounting && givesBack ? 1L << link : 0));
    }

    /** May go to an address. */
    public void branches(long target) {
      later(() -> branch(target));
    }

    private void branch(long target) {
      if (target - function < 0 || target - end >= 0) {
        isRead |= has(passed);
      } else {
        long[] known = targets.getOrDefault(target, new long[2]);
        targets.put(target, known);
        hasChanged |= ((now[0] & ~known[0]) | (now[1] & ~known[1])) != 0;
        join(known, now);
      }
    }

    /** Goes to an address. */
    public void jumps(long target) {
      later(() -> jump(target));
    }

    private void jump(long target) {
      branch(target);
      ends();
    }

    /** Goes where a register says, which may be anywhere in the function. */
    public void jumpsByRegister() {
      later(this::jumpByRegister);
    }

    private void jumpByRegister() {
      join(elsewhere, now);
      ends();
    }

    /** Returns. */
    public void returns() {
      later(this::giveBack);
    }

    private void giveBack() {
      isRead |= has(passed);
      ends();
    }

    private void later(Runnable what) {
      if (delays) {
        jump = what;
      } else {
        what.run();
      }
    }

    private void ends() {
      if (conditional == 0) {
        System.arraycopy(elsewhere, 0, now, 0, now.length);
      }
    }
  }
}
