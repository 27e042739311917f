package dev.retstack.benchmarks.stages;

import dev.retstack.benchmarks.measure.Measure;
import dev.retstack.benchmarks.measure.Rounds;
import dev.retstack.simulation.Accuracy;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/** Share of the true calls that is still reported when some records or chunks are lost. */
public final class AccuracyBench {
  private static final double[] SHARES = {0, 0.001, 0.01, 0.05, 0.2};

  private AccuracyBench() {}

  /**
   * Measures each share of each kind of loss: medians over the rounds, but the worst of what is
   * wrong.
   *
   * @param rounds programs; the first has seed 1
   * @param calls that each of them makes
   */
  public static List<Measure> run(int rounds, int calls) {
    List<Measure> measures = new ArrayList<>();
    for (Accuracy.Unit unit : Accuracy.Unit.values()) {
      for (double share : SHARES) {
        List<Accuracy.Result> results = new ArrayList<>();
        for (int seed = 1; seed <= rounds; seed++) {
          results.add(Accuracy.measure(seed, calls, unit, share));
        }
        String subject =
            String.format(Locale.ROOT, "%s, %s %% lost", unit, number(100 * share))
                .toLowerCase(Locale.ROOT);
        add(measures, subject, "completeness", results, Accuracy.Result::completeness);
        shares(measures, subject, "calls", results, Accuracy.Result::calls);
        shares(measures, subject, "edges", results, Accuracy.Result::edges);
        shares(measures, subject, "total", results, Accuracy.Result::total);
        shares(measures, subject, "self", results, Accuracy.Result::self);
      }
    }
    return measures;
  }

  /** An aspect of a result. */
  private interface Aspect {
    Accuracy.Shares of(Accuracy.Result result);
  }

  private static void shares(
      List<Measure> measures,
      String subject,
      String what,
      List<Accuracy.Result> results,
      Aspect aspect) {
    add(measures, subject, what + "RightPercent", results, r -> aspect.of(r).right());
    add(measures, subject, what + "TruncatedPercent", results, r -> aspect.of(r).truncated());
    add(measures, subject, what + "MissingPercent", results, r -> aspect.of(r).missing());
    double worst = results.stream().mapToDouble(r -> aspect.of(r).wrong()).max().orElse(0);
    measures.add(new Measure("accuracy", subject, what + "WrongPercent", worst));
  }

  private static void add(
      List<Measure> measures,
      String subject,
      String figure,
      List<Accuracy.Result> results,
      ToDoubleFunction<Accuracy.Result> value) {
    Rounds rounds = new Rounds(results.size());
    results.forEach(result -> rounds.add(value.applyAsDouble(result)));
    measures.add(new Measure("accuracy", subject, figure, rounds.median()));
  }

  private static String number(double percent) {
    return percent == Math.rint(percent) ? String.valueOf((long) percent) : String.valueOf(percent);
  }
}
