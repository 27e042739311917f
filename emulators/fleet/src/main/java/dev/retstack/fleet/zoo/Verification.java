package dev.retstack.fleet.zoo;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.loader.LoadedImage;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.IntConsumer;

/** The conformance suite on this machine, live: every check on every program of some images. */
public final class Verification {
  /**
   * What came of one image.
   *
   * @param image the image
   * @param card its convention
   * @param programs that it has
   * @param cells one per program and check
   * @param nanos time taken
   */
  public record Row(
      LoadedImage image, AbiCard card, List<String> programs, List<Cell> cells, long nanos) {
    /** Cells of one check. */
    public List<Cell> of(Check check) {
      return cells.stream().filter(cell -> cell.check() == check).toList();
    }

    /** The cells that failed. */
    public List<Cell> failed() {
      return cells.stream().filter(Cell::failed).toList();
    }
  }

  private Verification() {}

  /** How many cells there are. */
  public static int cells(List<LoadedImage> images) {
    int cells = 0;
    for (LoadedImage image : images) {
      for (String program : Zoo.programs(image)) {
        cells += new Conformance(new Zoo.Case(image, program)).checks().size();
      }
    }
    return cells;
  }

  /**
   * Runs the suite.
   *
   * @param probe which one makes the records
   * @param threads images verified at a time
   * @param done receives after each cell how many are done; from several threads
   * @param row receives each image, in their order
   */
  public static void run(
      List<LoadedImage> images, ProbeKind probe, int threads, IntConsumer done, Consumer<Row> row)
      throws InterruptedException {
    AtomicInteger count = new AtomicInteger();
    // platform threads: a call into the engine pins a virtual one
    ExecutorService executor =
        Executors.newFixedThreadPool(
            threads, Thread.ofPlatform().daemon().name("verify-", 0).factory());
    try {
      List<Future<Row>> rows = new ArrayList<>();
      for (LoadedImage image : images) {
        rows.add(
            executor.submit(
                () -> verify(image, probe, () -> done.accept(count.incrementAndGet()))));
      }
      for (Future<Row> next : rows) {
        row.accept(next.get());
      }
    } catch (ExecutionException e) {
      throw new IllegalStateException(e.getCause());
    } finally {
      executor.shutdownNow();
    }
  }

  private static Row verify(LoadedImage image, ProbeKind probe, Runnable done) {
    long start = System.nanoTime();
    List<String> programs = Zoo.programs(image);
    List<Cell> cells = new ArrayList<>();
    for (String program : programs) {
      Conformance conformance = new Conformance(new Zoo.Case(image, program), probe);
      for (Check check : conformance.checks()) {
        cells.add(conformance.cell(check));
        done.run();
      }
    }
    return new Row(image, Zoo.card(image), programs, cells, System.nanoTime() - start);
  }
}
