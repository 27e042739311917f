package dev.retstack.fleet.core.interrupt;

import dev.retstack.machine.memory.GuestAccessException;
import dev.retstack.machine.memory.GuestMemory;
import dev.retstack.unicorn.CpuState;
import dev.retstack.unicorn.Unicorn;
import it.unimi.dsi.fastutil.longs.Long2ObjectRBTreeMap;
import it.unimi.dsi.fastutil.longs.LongList;
import java.util.ArrayDeque;
import java.util.Deque;

/**
 * The frames of a core: whole states of its registers, each with a token in guest memory that the
 * program hands round.
 *
 * <pre>
 *   frame      seal         frame, with the bits of a constant turned over
 *   + 1 word   serial       counts the frames of the core
 *   + 2 words  pc           where it continues; bit 0 as in a jump
 *   + 3 words  sp
 *   + 4 words  masked       1: interrupts are masked there
 *   + 5 words  number       of the interrupt; of a new task 0xffff
 *   + 6 words  0, 0
 * </pre>
 *
 * Every register, what no instruction can store included, is kept by the controller under the
 * frame's address, as in the register banks that some processors have for this. A program reads the
 * words; where it has changed one, the frame is none any more.
 */
final class InterruptFrames {
  /** Words of a frame. */
  static final int WORDS = 8;

  /** {@code number} of the frame of a new task. */
  static final long NEW = 0xffff;

  private static final long SEAL = 0x7274_6966_6672_616dL;
  private static final String[] NAMES = {"seal", "serial", "pc", "sp", "masked", "number"};

  private final Unicorn engine;
  private final GuestMemory memory;
  private final long wordMask;
  private final Long2ObjectRBTreeMap<Frame> frames =
      new Long2ObjectRBTreeMap<>(Long::compareUnsigned);
  private final Deque<CpuState> free = new ArrayDeque<>();
  private long serial;

  /** A place where the core can continue. */
  record Frame(CpuState registers, long pc, long sp, boolean masked, LongList words) {}

  InterruptFrames(Unicorn engine, GuestMemory memory) {
    this.engine = engine;
    this.memory = memory;
    wordMask = memory.wordBytes() == 8 ? -1 : 0xffff_ffffL;
  }

  /** Bytes of a frame. */
  long bytes() {
    return (long) WORDS * memory.wordBytes();
  }

  /**
   * Saves the registers as they are.
   *
   * @param address of the frame; what other frame stood there is over
   */
  void save(long address, long pc, long sp, boolean masked, long number) {
    forgetWithin(address);
    long[] words = {
      (address ^ SEAL) & wordMask, ++serial & wordMask, pc, sp, masked ? 1 : 0, number, 0, 0
    };
    try {
      for (int i = 0; i < WORDS; i++) {
        memory.writeWord(address + (long) i * memory.wordBytes(), words[i]);
      }
    } catch (GuestAccessException e) {
      throw new InterruptException(
          ("no room for an interrupt's frame of %d bytes at 0x%x below the stack pointer 0x%x by"
                  + " pc 0x%x: is the stack too small, or the stack pointer wrong?")
              .formatted(bytes(), address, sp, pc));
    }
    frames.put(address, new Frame(keep(), pc, sp, masked, LongList.of(words)));
  }

  /** A copy of all registers. */
  CpuState keep() {
    CpuState context = free.isEmpty() ? engine.context_alloc() : free.pop();
    engine.context_save(context);
    return context;
  }

  /** Sets all registers from a copy, which is over then. */
  void putBack(CpuState copy) {
    engine.context_restore(copy);
    free.push(copy);
  }

  /** Frames that overlap a new one are of a stack that is used anew. */
  private void forgetWithin(long address) {
    long from = address - bytes() + 1;
    var after = frames.tailMap(from);
    while (!after.isEmpty() && after.firstLongKey() - address < bytes()) {
      free.push(after.remove(after.firstLongKey()).registers());
    }
  }

  /**
   * Sets all registers from a frame, which is over then.
   *
   * @param by who gave it, for the message
   */
  Frame restore(long address, String by) {
    Frame frame = frames.get(address);
    if (frame == null) {
      throw new InterruptException(
          "%s gave 0x%x, which is not a waiting frame; %s"
              .formatted(by, address, frames.isEmpty() ? "there is none" : "those are " + list()));
    }
    for (int i = 0; i < WORDS; i++) {
      long now = memory.readWord(address + (long) i * memory.wordBytes());
      long was = frame.words().getLong(i);
      if (now != was) {
        throw new InterruptException(
            ("%s gave the frame at 0x%x, which was overwritten: word %d (%s) is 0x%x, it was 0x%x:"
                    + " has another stack run over?")
                .formatted(by, address, i, i < NAMES.length ? NAMES[i] : "0", now, was));
      }
    }
    frames.remove(address);
    putBack(frame.registers());
    return frame;
  }

  private String list() {
    StringBuilder some = new StringBuilder();
    int left = 8;
    for (long address : frames.keySet()) {
      if (left-- == 0) {
        return some.append(", ...").toString();
      }
      some.append(some.isEmpty() ? "" : ", ").append("0x%x".formatted(address));
    }
    return some.toString();
  }
}
