package dev.retstack.service.reconstruct;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.Signal;
import org.apache.pekko.actor.typed.Terminated;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;
import org.apache.pekko.pattern.StatusReply;

/**
 * The partitions this member owns, one child each. A partition that comes back while its former
 * child still writes its last checkpoint waits for that child to stop: never two for one partition.
 */
public final class Partitions extends AbstractMatchingBehavior<Partitions.Command> {
  /** What it understands. */
  public sealed interface Command {}

  /** The partition was given to this member, or kept by it: answers with its actor. */
  public record Acquire(int partition, ActorRef<Acquired> replyTo) implements Command {}

  /**
   * Asks for the actor of a partition that was acquired; an error where it failed meanwhile. It is
   * not opened again: whoever thinks that it still owns a partition, and does not, would shut out
   * the one who does.
   */
  public record Find(int partition, ActorRef<StatusReply<Acquired>> replyTo) implements Command {}

  /**
   * The partition goes to another member: tells when its last checkpoint is written and nothing is
   * applied any more.
   */
  public record HandOver(int partition, ActorRef<Done> replyTo) implements Command {}

  /** These partitions were given to this member; one that was just handed over came back. */
  public record Assigned(Set<Integer> partitions) implements Command {
    public Assigned {
      partitions = Set.copyOf(partitions);
    }
  }

  /** The group gave these partitions to others: nothing of them is written here any more. */
  public record Lost(Set<Integer> partitions) implements Command {
    public Lost {
      partitions = Set.copyOf(partitions);
    }
  }

  /** The streams of these partitions, which were taken away, are over. */
  public record Release(Set<Integer> partitions) implements Command {
    public Release {
      partitions = Set.copyOf(partitions);
    }
  }

  /** Gives up all partitions, in order, and tells when that is done. */
  public record ReleaseAll(ActorRef<Done> replyTo) implements Command {}

  /** Asks which partitions are owned now. */
  public record AskOwned(ActorRef<Owned> replyTo) implements Command {}

  /** Answer to {@link Acquire}. */
  public record Acquired(int partition, ActorRef<PartitionGraph.Command> graph) {}

  /** Answer to {@link AskOwned}: actors by partition, in order. */
  public record Owned(Map<Integer, ActorRef<PartitionGraph.Command>> graphs) {
    public Owned {
      graphs = java.util.Collections.unmodifiableMap(new TreeMap<>(graphs));
    }
  }

  private final IntFunction<Behavior<PartitionGraph.Command>> factory;
  private final IntConsumer left;
  private final Map<Integer, ActorRef<PartitionGraph.Command>> owned = new TreeMap<>();
  private final Set<Integer> stopping = new HashSet<>();
  private final Map<Integer, List<Acquire>> waiting = new HashMap<>();
  private final Map<Integer, List<ActorRef<Done>>> handingOver = new HashMap<>();
  private final List<ReleaseAll> releasing = new ArrayList<>();

  /**
   * Owns nothing yet.
   *
   * @param factory makes the behaviour of a partition
   * @param left hears of each partition that stopped, before it is opened again
   */
  public static Behavior<Command> create(
      IntFunction<Behavior<PartitionGraph.Command>> factory, IntConsumer left) {
    return Behaviors.setup(context -> new Partitions(context, factory, left));
  }

  private Partitions(
      ActorContext<Command> context,
      IntFunction<Behavior<PartitionGraph.Command>> factory,
      IntConsumer left) {
    super(context);
    this.factory = factory;
    this.left = left;
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Acquire m -> onAcquire(m);
      case Find m -> onFind(m);
      case HandOver m -> onHandOver(m);
      case Assigned m -> tell(m.partitions(), PartitionGraph.TakeBack.INSTANCE);
      case Lost m -> tell(m.partitions(), PartitionGraph.Lost.INSTANCE);
      case Release m -> {
        m.partitions().forEach(this::release);
        yield this;
      }
      case ReleaseAll m -> onReleaseAll(m);
      case AskOwned m -> {
        m.replyTo().tell(new Owned(owned));
        yield this;
      }
    };
  }

  @Override
  public Behavior<Command> onSignal(Signal signal) {
    if (signal instanceof Terminated gone) {
      onGone(Integer.parseInt(gone.getRef().path().name().split("-", -1)[1]));
    }
    return this;
  }

  private Behavior<Command> tell(Set<Integer> partitions, PartitionGraph.Command command) {
    for (int partition : partitions) {
      var child = owned.get(partition);
      if (child != null) {
        child.tell(command);
      }
    }
    return this;
  }

  private Behavior<Command> onAcquire(Acquire m) {
    if (stopping.contains(m.partition())) {
      waiting.computeIfAbsent(m.partition(), _ -> new ArrayList<>()).add(m);
    } else {
      m.replyTo().tell(new Acquired(m.partition(), child(m.partition())));
    }
    return this;
  }

  private Behavior<Command> onFind(Find m) {
    var child = owned.get(m.partition());
    m.replyTo()
        .tell(
            child == null
                ? StatusReply.error("partition %d is not open any more".formatted(m.partition()))
                : StatusReply.success(new Acquired(m.partition(), child)));
    return this;
  }

  private ActorRef<PartitionGraph.Command> child(int partition) {
    return owned.computeIfAbsent(
        partition,
        p -> {
          var child = getContext().spawn(factory.apply(p), "partition-" + p);
          getContext().watch(child);
          return child;
        });
  }

  private Behavior<Command> onHandOver(HandOver m) {
    var child = owned.get(m.partition());
    if (child == null && !stopping.contains(m.partition())) {
      m.replyTo().tell(Done.done());
      return this;
    }
    // told by the child, or when it is gone
    handingOver.computeIfAbsent(m.partition(), _ -> new ArrayList<>()).add(m.replyTo());
    if (child != null) {
      child.tell(new PartitionGraph.HandOver(m.replyTo()));
    }
    return this;
  }

  private void release(int partition) {
    var child = owned.remove(partition);
    if (child != null) {
      stopping.add(partition);
      child.tell(PartitionGraph.Release.INSTANCE);
    }
  }

  private Behavior<Command> onReleaseAll(ReleaseAll m) {
    List.copyOf(owned.keySet()).forEach(this::release);
    releasing.add(m);
    tellReleased();
    return this;
  }

  private void onGone(int partition) {
    left.accept(partition);
    owned.remove(partition);
    stopping.remove(partition);
    List<ActorRef<Done>> waiters = handingOver.remove(partition);
    if (waiters != null) {
      waiters.forEach(replyTo -> replyTo.tell(Done.done()));
    }
    List<Acquire> acquires = waiting.remove(partition);
    if (acquires != null) {
      acquires.forEach(this::onAcquire);
    }
    tellReleased();
  }

  private void tellReleased() {
    if (stopping.isEmpty() && owned.isEmpty()) {
      releasing.forEach(m -> m.replyTo().tell(Done.done()));
      releasing.clear();
    }
  }
}
