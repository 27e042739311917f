package dev.retstack.service.consume;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.service.consume.PartitionTable.Order;
import dev.retstack.service.consume.PartitionTable.Phase;
import dev.retstack.service.partition.Feed;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Random histories of a group and of owners that fail, against a consumer and owners of a model.
 */
class PartitionTableTest {
  private static final int SEEDS = Integer.getInteger("retstack.table.seeds", 400);
  private static final int PARTITIONS = 4;
  private static final int RECORDS = 200;
  private static final int POLL_RECORDS = 16;
  private static final long SECOND = Duration.ofSeconds(1).toNanos();

  /** A consumer that takes orders only for what it has, as Kafka's does. */
  private static final class Model {
    final SplittableRandom random;
    final PartitionTable table;
    final Map<Integer, Long> position = new TreeMap<>();
    final Set<Integer> paused = new HashSet<>();
    final Map<Integer, Owner> owners = new TreeMap<>();
    final Map<Integer, Long> committed = new HashMap<>();
    final Map<Integer, Long> failedAt = new HashMap<>();
    final Set<Integer> leftAlone = new HashSet<>();
    boolean inTick;
    boolean faults = true;
    long now;

    Model(long seed, PartitionTable table) {
      this.random = new SplittableRandom(seed);
      this.table = table;
      this.now = random.nextLong(); // as the clock does, it may begin anywhere
    }

    void carryOut(List<Order> orders) {
      for (Order order : orders) {
        int partition = order.partition();
        switch (order) {
          case Order.Pause _ -> {
            assertThat(position).containsKey(partition);
            paused.add(partition);
          }
          case Order.Resume _ -> {
            assertThat(position).containsKey(partition);
            assertThat(paused.remove(partition)).as("was paused").isTrue();
          }
          case Order.Seek m -> {
            assertThat(position).containsKey(partition);
            assertThat(paused).as("no record may come in between").contains(partition);
            position.put(partition, m.offset());
          }
          case Order.Open _ -> {
            assertThat(inTick).as("opened in a callback").isTrue();
            assertThat(owners).as("a second owner").doesNotContainKey(partition);
            assertThat(position).containsKey(partition);
            assertThat(leftAlone).doesNotContain(partition);
            assertThat(now - failedAt.getOrDefault(partition, now - 100 * SECOND))
                .as("opened again at once")
                .isGreaterThanOrEqualTo(PartitionTable.FIRST_BACKOFF.toNanos());
            owners.put(partition, new Owner(this, partition));
          }
          case Order.Close _ -> owners.get(partition).orders.add(true);
          case Order.Drop _ -> owners.get(partition).orders.add(false);
        }
      }
    }

    void assign(int partition) {
      if (position.putIfAbsent(partition, -1L) == null) {
        failedAt.remove(partition);
        leftAlone.remove(partition);
        carryOut(table.assigned(partition));
        assertThat(paused).contains(partition);
      }
    }

    /** As in a callback: events are taken until it is handed over, or time runs out. */
    void revoke(int partition) {
      if (position.containsKey(partition)) {
        Phase phase = table.phase(partition);
        carryOut(table.revoked(partition));
        if (phase != Phase.CLOSING) { // it may write a last checkpoint since before
          assertThat(table.drains(Set.of(partition)))
              .isEqualTo(phase == Phase.FLOWING || phase == Phase.PAUSED);
        }
        boolean inTime = random.nextInt(8) > 0;
        while (inTime && table.drains(Set.of(partition))) {
          owners.values().forEach(Owner::act);
          deliver();
        }
        gone(partition);
      }
    }

    void lose(int partition) {
      if (position.containsKey(partition)) {
        Owner owner = owners.get(partition);
        carryOut(table.lost(partition));
        if (owner != null) {
          owner.isLost = true;
        }
        assertThat(table.drains(Set.of(partition))).isFalse();
        gone(partition);
      }
    }

    private void gone(int partition) {
      position.remove(partition);
      paused.remove(partition);
    }

    void poll() {
      for (int partition : new TreeSet<>(position.keySet())) {
        long at = position.get(partition);
        int count = (int) Math.min(random.nextInt(1, POLL_RECORDS + 1), RECORDS - at);
        if (!paused.contains(partition) && count > 0) {
          owners.get(partition).handOn(at, count);
          position.put(partition, at + count);
          carryOut(table.recordsHanded(partition, count));
        }
      }
    }

    void tick() {
      now += random.nextLong(SECOND);
      inTick = true;
      carryOut(table.tick(now));
      inTick = false;
    }

    /** One event of one owner, any of them; those of one owner come in order. */
    void deliver() {
      List<Owner> ready = owners.values().stream().filter(o -> !o.events.isEmpty()).toList();
      if (!ready.isEmpty()) {
        ready.get(random.nextInt(ready.size())).events.poll().run();
      }
    }

    void step() {
      int partition = random.nextInt(PARTITIONS);
      switch (random.nextInt(faults ? 24 : 12)) {
        case 0, 1, 2 -> tick();
        case 3, 4, 5 -> poll();
        case 6, 7, 8, 9 -> deliver();
        case 10, 11, 12, 13, 14, 15 -> owners.values().forEach(Owner::act);
        case 16, 17, 18, 19 -> assign(partition);
        case 20, 21 -> revoke(partition);
        case 22 -> lose(partition);
        default -> owners.values().forEach(Owner::mayFail);
      }
    }

    void check() {
      for (int partition = 0; partition < PARTITIONS; partition++) {
        Phase phase = table.phase(partition);
        boolean flows = position.containsKey(partition) && !paused.contains(partition);
        assertThat(flows).as("flows, as %s", phase).isEqualTo(phase == Phase.FLOWING);
        if (phase == null) {
          assertThat(position).doesNotContainKey(partition);
          assertThat(owners).doesNotContainKey(partition);
        }
      }
    }
  }

  /** Loads, takes, commits; a message late, as actors do. */
  private static final class Owner {
    final Model model;
    final int partition;
    final Deque<Runnable> events = new ArrayDeque<>();

    /** True: close; false: drop. */
    final Deque<Boolean> orders = new ArrayDeque<>();

    boolean isOpen;
    boolean isDead;
    boolean isLost;
    long next;
    long handed;
    int untold;

    Owner(Model model, int partition) {
      this.model = model;
      this.partition = partition;
    }

    void handOn(long offset, int count) {
      assertThat(isOpen).isTrue();
      assertThat(offset).as("no gap and nothing twice").isEqualTo(handed);
      handed += count;
      assertThat(handed - next).isLessThan(PartitionTable.ENOUGH + POLL_RECORDS);
    }

    void act() {
      if (isDead) {
        return;
      }
      Boolean order = orders.poll();
      if (order != null) {
        if (order && isOpen) {
          commit();
        }
        die();
      } else if (!isOpen) {
        isOpen = true;
        next = model.committed.getOrDefault(partition, 0L);
        handed = next;
        long from = next;
        events.add(() -> model.carryOut(model.table.opened(partition, from, model.now)));
      } else if (handed > next) {
        for (int count = model.random.nextInt(1, 9); count > 0 && handed > next; count--) {
          take();
        }
        if (model.random.nextInt(4) == 0) {
          commit();
        }
      } else {
        commit();
      }
    }

    private void take() {
      next++;
      untold++;
      if (handed - next == Feed.FEW || handed == next) {
        int telling = untold;
        untold = 0;
        events.add(() -> model.carryOut(model.table.recordsTaken(partition, telling)));
      }
    }

    private void commit() {
      if (!isLost) {
        model.committed.merge(partition, next, Math::max);
      }
    }

    void mayFail() {
      if (isDead || model.random.nextInt(3) > 0) {
        return;
      }
      switch (model.random.nextInt(3)) {
        case 0 -> {} // without a word
        case 1 ->
            events.add(
                () -> {
                  List<Order> orders = model.table.failed(partition, model.now);
                  if (!orders.isEmpty()) {
                    model.failedAt.put(partition, model.now);
                  }
                  model.carryOut(orders);
                });
        default ->
            events.add(
                () -> {
                  List<Order> orders = model.table.leftAlone(partition, model.now);
                  if (!orders.isEmpty()) {
                    model.leftAlone.add(partition);
                  }
                  model.carryOut(orders);
                });
      }
      die();
    }

    private void die() {
      isDead = true;
      events.add(
          () -> {
            model.owners.remove(partition);
            model.carryOut(model.table.closed(partition, model.now));
          });
    }
  }

  @Test
  void whateverHappensEachPartitionHasOneOwnerAndGetsEachRecordOnce() {
    for (long seed = 0; seed < SEEDS; seed++) {
      Model model = new Model(seed, new PartitionTable());
      try {
        run(model);
      } catch (Throwable e) {
        throw new AssertionError("seed " + seed, e);
      }
    }
  }

  private static void run(Model model) {
    for (int i = 0; i < 300; i++) {
      model.step();
      model.check();
    }
    model.faults = false;
    for (int partition = 0; partition < PARTITIONS; partition++) {
      model.revoke(partition);
      model.assign(partition);
    }
    for (int i = 0; i < 100_000 && !isDone(model); i++) {
      model.step();
      model.check();
    }
    assertThat(isDone(model)).as("all records are taken: %s", model.committed).isTrue();
    model.carryOut(model.table.left());
    model.position.clear(); // the consumer is closed: it takes no orders any more
    for (int i = 0; i < 10_000 && !model.table.isEmpty(); i++) {
      model.owners.values().forEach(Owner::act);
      model.deliver();
    }
    assertThat(model.table.isEmpty()).isTrue();
    assertThat(model.owners).isEmpty();
  }

  private static boolean isDone(Model model) {
    return model.committed.size() == PARTITIONS
        && model.committed.values().stream().allMatch(offset -> offset == RECORDS);
  }

  /** The model finds what it is there for. */
  @ParameterizedTest
  @ValueSource(ints = {0, 1, 2})
  void aDefectIsFound(int defect) {
    assertThatThrownBy(
            () -> {
              for (long seed = 0; seed < 50; seed++) {
                Model model = new Model(seed, new PartitionTable());
                for (int i = 0; i < 300; i++) {
                  model.step();
                  spoil(model, defect);
                  model.check();
                }
              }
            })
        .isInstanceOf(AssertionError.class);
  }

  private static void spoil(Model model, int defect) {
    model.owners.keySet().stream()
        .findFirst()
        .filter(model.position::containsKey)
        .ifPresent(
            partition ->
                model.carryOut(
                    List.of(
                        switch (defect) {
                          case 0 -> new Order.Open(partition);
                          case 1 -> new Order.Seek(partition, 7);
                          default -> new Order.Resume(partition);
                        })));
  }

  @Test
  void onePartitionFailsAgainAndAgainAndTheOtherFlows() {
    PartitionTable table = new PartitionTable();
    table.assigned(0);
    table.assigned(1);
    assertThat(table.tick(0)).containsExactly(new Order.Open(0), new Order.Open(1));
    table.opened(1, 7, 0);
    Duration wait = PartitionTable.FIRST_BACKOFF;
    long now = 0;
    for (int failures = 0; failures < 12; failures++) {
      table.failed(0, now);
      assertThat(table.tick(now)).isEmpty();
      table.closed(0, now);
      assertThat(table.tick(now + wait.toNanos() - 1)).isEmpty();
      now += wait.toNanos();
      assertThat(table.tick(now)).containsExactly(new Order.Open(0));
      assertThat(table.phase(1)).isEqualTo(Phase.FLOWING);
      wait = PartitionTable.longer(wait);
    }
    assertThat(wait).isEqualTo(PartitionTable.LONGEST_BACKOFF);
    table.opened(0, 0, now);
    now += Duration.ofMinutes(2).toNanos();
    table.closed(0, now); // without a word, after it was well
    assertThat(table.tick(now)).isEmpty();
    assertThat(table.tick(now + PartitionTable.FIRST_BACKOFF.toNanos()))
        .containsExactly(new Order.Open(0));
  }

  @Test
  void anOwnerThatHasEnoughGetsNoMoreUntilItHasFew() {
    PartitionTable table = new PartitionTable();
    table.assigned(0);
    table.tick(0);
    assertThat(table.opened(0, 5, 0)).containsExactly(new Order.Seek(0, 5), new Order.Resume(0));
    assertThat(table.recordsHanded(0, PartitionTable.ENOUGH - 1)).isEmpty();
    assertThat(table.recordsHanded(0, 2)).containsExactly(new Order.Pause(0));
    assertThat(table.recordsTaken(0, PartitionTable.ENOUGH - Feed.FEW)).isEmpty();
    assertThat(table.recordsTaken(0, 1)).containsExactly(new Order.Resume(0));
    assertThat(table.recordsTaken(0, Feed.FEW)).isEmpty();
  }

  /** It comes back while its last checkpoint is written: it waits for that. */
  @Test
  void oneThatComesBackIsOpenedWhenItsFormerOwnerIsGone() {
    PartitionTable table = new PartitionTable();
    table.assigned(0);
    table.tick(0);
    table.opened(0, 0, 0);
    assertThat(table.revoked(0)).containsExactly(new Order.Close(0));
    assertThat(table.drains(Set.of(0))).isTrue();
    table.assigned(0);
    assertThat(table.tick(0)).isEmpty();
    assertThat(table.lost(0)).containsExactly(new Order.Drop(0));
    assertThat(table.drains(Set.of(0))).isFalse();
    table.assigned(0);
    assertThat(table.tick(0)).isEmpty();
    table.closed(0, 0);
    assertThat(table.tick(0)).containsExactly(new Order.Open(0));
  }
}
