package dev.retstack.simulation;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Stat;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.report.Report;
import dev.retstack.graph.report.ReportBuilder;
import dev.retstack.graph.state.GraphState;
import dev.retstack.simulation.model.ModelChunk;
import dev.retstack.simulation.model.ModelCore;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/**
 * Cores, a log, and the owners of its partitions. After each step the invariants of its partition
 * are checked. After the last step the whole is validated.
 */
final class World {
  private final List<ModelCore> cores;
  private final List<List<ModelChunk>> sent;
  private final SimulatedLog log;
  private final Supplier<Consumer.Tampering> tampering;
  private final List<Store> stores = new ArrayList<>();
  private final List<Consumer> owners = new ArrayList<>();
  private final List<Optional<Consumer>> former = new ArrayList<>();

  World(Scenario scenario, Supplier<Consumer.Tampering> tampering) {
    this.cores = scenario.cores();
    this.sent = scenario.sent();
    this.log = new SimulatedLog(scenario.partitions());
    this.tampering = tampering;
    for (int i = 0; i < scenario.partitions(); i++) {
      stores.add(new Store());
      owners.add(owner(i));
      former.add(Optional.empty());
    }
  }

  /** Takes all steps, then all records that are left. Throws what does not hold. */
  void run(List<Step> steps) {
    for (Step step : steps) {
      take(step);
    }
    for (int partition = 0; partition < owners.size(); partition++) {
      while (!owners.get(partition).atEnd()) {
        take(new Step.Poll(partition));
      }
    }
    end();
  }

  private void take(Step step) {
    switch (step) {
      case Step.Send s -> log.append(sent.get(s.core()).get(s.chunk()), s.damage());
      case Step.Poll p -> {
        owners.get(p.partition()).poll();
        invariants(p.partition());
      }
      case Step.Snapshot s -> {
        if (!owners.get(s.partition()).snapshot()) {
          throw new AssertionError("the owner's state was refused");
        }
      }
      case Step.Commit c -> owners.get(c.partition()).commit();
      case Step.Crash c -> {
        owners.set(c.partition(), owner(c.partition()));
        invariants(c.partition());
      }
      case Step.Rebalance r -> {
        former.set(r.partition(), Optional.of(owners.get(r.partition())));
        owners.set(r.partition(), owner(r.partition()));
        invariants(r.partition());
      }
      case Step.Zombie z ->
          former
              .get(z.partition())
              .ifPresent(
                  zombie -> {
                    zombie.poll();
                    zombie.commit();
                    if (zombie.snapshot()) {
                      throw new AssertionError("a former owner stored its state");
                    }
                  });
    }
  }

  private Consumer owner(int partition) {
    return new Consumer(log, partition, stores.get(partition), tampering.get());
  }

  /** What the state of a partition must be after the records that it has seen. */
  private void invariants(int partition) {
    Consumer owner = owners.get(partition);
    GraphState state = owner.state();
    Validations.invariants(state);
    Map<CoreKey, Expected> expected = new HashMap<>();
    long refused = 0;
    for (long offset = 0; offset < owner.next(); offset++) {
      Optional<ModelChunk> whole = log.read(partition, offset).whole();
      refused += whole.isPresent() ? 0 : 1;
      whole.ifPresent(c -> expected.computeIfAbsent(c.core(), _ -> new Expected()).take(c));
    }
    Validations.equal("refused chunks", refused, state.stats().get(Stat.CORRUPT_CHUNKS));
    Validations.equal("cores", expected.keySet(), keys(state));
    for (ModelCore core : cores) {
      Optional<CoreGraph> graph = state.core(core.key());
      if (graph.isPresent()) {
        Expected e = expected.get(core.key());
        Validations.equal("records", e.records(), graph.get().progress().records());
        Validations.equal("lost", e.lost(), graph.get().progress().lost());
        Validations.equal("losses", e.losses(), graph.get().losses().rows());
        Validations.eachCallIsTrue(graph.get().tree(), core);
      }
    }
  }

  private static Set<CoreKey> keys(GraphState state) {
    return new HashSet<>(state.cores().stream().map(CoreGraph::key).toList());
  }

  /** The owners' states together are what one reader sees who was never disturbed. */
  private void end() {
    ReportBuilder all = new ReportBuilder();
    ReportBuilder once = new ReportBuilder();
    for (int partition = 0; partition < owners.size(); partition++) {
      all.add(owners.get(partition).state());
      Consumer reader = new Consumer(log, partition, new Store(), Consumer.Tampering.NONE);
      while (!reader.atEnd()) {
        reader.poll();
      }
      once.add(reader.state());
      Validations.treesAreTrue(reader.state(), cores);
    }
    Report report = all.build();
    Validations.equal("the result of an undisturbed reader", once.build(), report);
    Validations.nothingInvented(report, cores);
  }
}
