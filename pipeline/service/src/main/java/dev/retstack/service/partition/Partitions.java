package dev.retstack.service.partition;

import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.IntConsumer;
import java.util.function.IntFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * The partitions that this member owns, one child each. Their feed decides which exist, and that
 * there is never a second child of one.
 */
public final class Partitions extends AbstractMatchingBehavior<Partitions.Command> {
  /** What it understands. */
  public sealed interface Command {}

  /** Makes the actor of a partition, which has none. */
  public record Open(int partition) implements Command {}

  /** Records for a partition, in order. */
  public record HandOn(int partition, List<ConsumerRecord<byte[], byte[]>> records)
      implements Command {}

  /** The partition goes to another member: its actor writes a last checkpoint and stops. */
  public record Close(int partition) implements Command {}

  /**
   * Stops a partition's actor, which writes nothing more: another member has the partition already.
   */
  public record Drop(int partition) implements Command {}

  /** Asks which partitions are owned now. */
  public record AskOwned(ActorRef<Owned> replyTo) implements Command {}

  private record Gone(int partition) implements Command {}

  /** Answer to {@link AskOwned}: actors by partition, in order. */
  public record Owned(Map<Integer, ActorRef<PartitionGraph.Command>> graphs) {
    public Owned {
      graphs = Collections.unmodifiableMap(new TreeMap<>(graphs));
    }
  }

  private final IntFunction<Behavior<PartitionGraph.Command>> factory;
  private final IntConsumer left;
  private final Map<Integer, ActorRef<PartitionGraph.Command>> children = new TreeMap<>();

  /** Actors that were asked to stop. */
  private final Map<Integer, ActorRef<PartitionGraph.Command>> stopping = new TreeMap<>();

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
    switch (command) {
      case Open m -> {
        var child = getContext().spawn(factory.apply(m.partition()), "partition-" + m.partition());
        getContext().watchWith(child, new Gone(m.partition()));
        children.put(m.partition(), child);
      }
      case HandOn m -> inform(children, m.partition(), new PartitionGraph.Records(m.records()));
      case Close m -> {
        inform(children, m.partition(), PartitionGraph.Release.INSTANCE);
        stops(m.partition());
      }
      case Drop m -> {
        inform(children, m.partition(), PartitionGraph.Lost.INSTANCE);
        inform(stopping, m.partition(), PartitionGraph.Lost.INSTANCE);
        stops(m.partition());
      }
      case AskOwned m -> m.replyTo().tell(new Owned(children));
      case Gone m -> {
        children.remove(m.partition());
        stopping.remove(m.partition());
        left.accept(m.partition());
      }
    }
    return this;
  }

  private static void inform(
      Map<Integer, ActorRef<PartitionGraph.Command>> of,
      int partition,
      PartitionGraph.Command command) {
    var child = of.get(partition);
    if (child != null) { // it may have failed meanwhile
      child.tell(command);
    }
  }

  private void stops(int partition) {
    var child = children.remove(partition);
    if (child != null) {
      stopping.put(partition, child);
    }
  }
}
