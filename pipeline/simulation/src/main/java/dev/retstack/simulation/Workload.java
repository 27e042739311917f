package dev.retstack.simulation;

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
 */
public record Workload(
    int functions, int calls, int depth, int down, int tail, int jump, int plant) {

  /** Any workload a seed may stand for; defects are left to {@link #withDefects}. */
  static Workload any(SplittableRandom random) {
    return new Workload(
        1 + random.nextInt(random.nextBoolean() ? 4 : 60),
        1 + random.nextInt(random.nextInt(4) == 0 ? 3000 : 300),
        1 + random.nextInt(random.nextInt(4) == 0 ? 700 : 30),
        300 + random.nextInt(400),
        random.nextBoolean() ? 0 : random.nextInt(300),
        random.nextBoolean() ? 0 : random.nextInt(60),
        0);
  }

  /** The same program with defects planted. */
  Workload withDefects(int chance) {
    return new Workload(functions, calls, depth, down, tail, jump, chance);
  }
}
