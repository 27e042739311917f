package dev.retstack.schema.codec;

import java.util.Arrays;

/**
 * The ret_stack as the records of one chunk show it. Encoder and decoder run the same one, so what
 * it foretells need not be coded. Lossless for any input: a wrong foretelling costs bytes only.
 *
 * <p>Index 0 is the <em>unknown frame</em>: it stands for the frames opened before the chunk and
 * holds the fields of the last exit that had no frame (zeros before the first). Real frames follow
 * from index 1 with strictly rising depth, compared as signed numbers.
 */
final class ShadowStack {
  /** Offsets of a frame's fields in {@link #words}. */
  static final int SELF_PC = 0;

  static final int FROM_PC = 1;
  static final int RET_P = 2;
  static final int FP = 3;

  /** Words of one frame. */
  static final int STRIDE = 4;

  /** Field {@code f} of frame {@code i} is {@code words[i * STRIDE + f]}. */
  long[] words = new long[64 * STRIDE];

  private int[] depths = new int[64];
  private int top;

  /** Depth foretold for an entry; an exit is foretold one below. */
  private int next;

  int entryDepth() {
    return next;
  }

  int exitDepth() {
    return next - 1;
  }

  /** Drops the frames that an entry at {@code depth} proves dead; returns the parent's index. */
  int parentOf(int depth) {
    while (top > 0 && depths[top] >= depth) {
      top--;
    }
    return top;
  }

  /** Drops the frames above {@code depth}; returns the index of the frame there, or 0. */
  int exitingAt(int depth) {
    while (top > 0 && depths[top] > depth) {
      top--;
    }
    return top > 0 && depths[top] == depth ? top : 0;
  }

  /** Opens a frame above the one that {@link #parentOf} gave for this depth. */
  void enter(int depth, long selfPc, long fromPc, long retP, long fp) {
    top++;
    if (top == depths.length) {
      depths = Arrays.copyOf(depths, top * 2);
      words = Arrays.copyOf(words, top * 2 * STRIDE);
    }
    depths[top] = depth;
    set(top, selfPc, fromPc, retP, fp);
    next = depth + 1;
  }

  /** Closes the frame that {@link #exitingAt} gave for this depth. */
  void exit(int frame, int depth, long selfPc, long fromPc, long retP, long fp) {
    if (frame > 0) {
      top = frame - 1;
    } else {
      set(0, selfPc, fromPc, retP, fp);
    }
    next = depth;
  }

  private void set(int frame, long selfPc, long fromPc, long retP, long fp) {
    int at = frame * STRIDE;
    words[at + SELF_PC] = selfPc;
    words[at + FROM_PC] = fromPc;
    words[at + RET_P] = retP;
    words[at + FP] = fp;
  }
}
