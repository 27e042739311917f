package dev.retstack.simulation.model;

import java.util.SplittableRandom;

/**
 * What kind of program a random walk plays. Chances are per step and in thousandths.
 *
 * @param functions how many functions there are; few of them means recursion
 * @param calls entries after which the program only returns
 * @param depth deepest nesting
 * @param down chance of a call, against a return
 * @param tail chance that a call is a tail call
 * @param jump chance that a longjmp leaves several calls at once
 * @param plant chance that an exit shows a planted defect
 * @param retStack frames that ret_stack holds; calls beyond it run untraced
 * @param start the core's clock at its first instruction
 * @param contexts how tasks are switched and interrupts come
 */
public record Workload(
    int functions,
    int calls,
    int depth,
    int down,
    int tail,
    int jump,
    int plant,
    int retStack,
    long start,
    Contexts contexts) {

  /**
   * How tasks are switched and interrupts come.
   *
   * @param tasks that run beside each other, at most
   * @param switches chance that another task continues
   * @param births chance that a task begins or ends
   * @param interrupts chance that an interrupt comes
   * @param nested interrupts open at a time in one task, at most
   * @param inTurn whether tasks continue in turn, or at random
   */
  public record Contexts(
      int tasks, int switches, int births, int interrupts, int nested, boolean inTurn) {
    /** One task and no interrupts. */
    static final Contexts ONE = new Contexts(1, 0, 0, 0, 0, false);

    /** Any that a seed may stand for; half of the time there is one task alone. */
    static Contexts any(SplittableRandom random) {
      if (random.nextBoolean()) {
        return ONE;
      }
      return new Contexts(
          1 + random.nextInt(6),
          random.nextInt(150),
          random.nextInt(30),
          random.nextBoolean() ? 0 : random.nextInt(100),
          1 + random.nextInt(3),
          random.nextBoolean());
    }
  }

  /** An hour in nanoseconds: clocks of two hosts differ by this much at most. */
  private static final long SKEW_NS_MAX = 3_600_000_000_000L;

  private static final int RET_STACK = 65_536;

  /** A program whose ret_stack is large enough. */
  public Workload(int functions, int calls, int depth, int down, int tail, int jump, int plant) {
    this(functions, calls, depth, down, tail, jump, plant, RET_STACK, 0, Contexts.ONE);
  }

  /** Any workload a seed may stand for; defects are left to {@link #withDefects}. */
  public static Workload any(SplittableRandom random) {
    return new Workload(
        1 + random.nextInt(random.nextBoolean() ? 4 : 60),
        1 + random.nextInt(random.nextInt(4) == 0 ? 3000 : 300),
        1 + random.nextInt(random.nextInt(4) == 0 ? 700 : 30),
        300 + random.nextInt(400),
        random.nextBoolean() ? 0 : random.nextInt(300),
        random.nextBoolean() ? 0 : random.nextInt(60),
        0,
        RET_STACK,
        0,
        Contexts.any(random));
  }

  /** Any short one, of which every row can be looked at after every step. */
  public static Workload small(SplittableRandom random) {
    return new Workload(
        1 + random.nextInt(random.nextBoolean() ? 4 : 30),
        1 + random.nextInt(150),
        1 + random.nextInt(25),
        300 + random.nextInt(400),
        random.nextBoolean() ? 0 : random.nextInt(300),
        random.nextBoolean() ? 0 : random.nextInt(60),
        random.nextInt(3) * 20,
        random.nextInt(3) == 0 ? 1 + random.nextInt(12) : RET_STACK,
        random.nextBoolean() ? 0 : random.nextLong(SKEW_NS_MAX),
        Contexts.any(random));
  }

  /** This program, where tasks are switched and interrupts come. */
  public Workload with(Contexts others) {
    return new Workload(functions, calls, depth, down, tail, jump, plant, retStack, start, others);
  }

  /** This program with a ret_stack of that many frames. */
  public Workload withRetStack(int frames) {
    return new Workload(functions, calls, depth, down, tail, jump, plant, frames, start, contexts);
  }

  /** This program with planted defects. */
  public Workload withDefects(int chance) {
    return new Workload(
        functions, calls, depth, down, tail, jump, chance, retStack, start, contexts);
  }
}
