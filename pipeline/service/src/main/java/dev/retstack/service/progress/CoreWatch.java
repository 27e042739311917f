package dev.retstack.service.progress;

import dev.retstack.answers.state.CoreProgress;
import dev.retstack.answers.state.Deaths;
import dev.retstack.graph.input.CoreKey;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Knows how far each core of this member's partitions came, and notifies callers that wait for
 * cores to end, or to be dead. Partitions report after each chunk.
 */
public final class CoreWatch extends AbstractMatchingBehavior<CoreWatch.Command> {
  /** What the watch understands. */
  public sealed interface Command {}

  /** A chunk of a core was applied, or its state was loaded. */
  public record Advanced(CoreProgress core) implements Command {}

  /** All records of a partition below this offset are in its state. */
  public record Reached(int partition, long nextOffset) implements Command {}

  /** These sessions are no longer in a partition's state. */
  public record Forgotten(int partition, Set<String> sessions) implements Command {
    public Forgotten {
      sessions = Set.copyOf(sessions);
    }
  }

  /** A partition stopped here: another member has it, or it is opened again. */
  public record Left(int partition) implements Command {}

  /** Which sessions have lost their fleets. */
  public record Lost(Deaths deaths) implements Command {}

  /** Asks for all cores, sorted. */
  public record Ask(ActorRef<Answer> replyTo) implements Command {}

  /**
   * Asks for an answer when cores have ended or are dead: those named, or any {@code count} of them
   * if none is named. A core that was seen to end counts, even if its partition goes to another
   * member meanwhile. The answer may take as long as the fleet runs.
   */
  public record AwaitEnded(Set<CoreKey> cores, int count, ActorRef<Ended> replyTo)
      implements Command {
    public AwaitEnded {
      cores = Set.copyOf(cores);
    }
  }

  /**
   * Answer to {@link AwaitEnded}: all of them have ended, except those that are dead.
   *
   * @param dead cores whose fleets are gone, sorted; all that these had sent is in the state
   */
  public record Ended(List<CoreProgress> dead) {
    public Ended {
      dead = List.copyOf(dead);
    }
  }

  /** Answer to {@link Ask}. */
  public record Answer(List<CoreProgress> cores) {
    public Answer {
      cores = List.copyOf(cores);
    }
  }

  private final Map<CoreKey, CoreProgress> cores = new TreeMap<>();
  private final Map<Integer, Long> reached = new HashMap<>();
  private final List<Waiter> waiting = new ArrayList<>();
  private Deaths deaths = Deaths.NONE;

  /** A watch that has seen nothing. */
  public static Behavior<Command> create() {
    return Behaviors.setup(CoreWatch::new);
  }

  private CoreWatch(ActorContext<Command> context) {
    super(context);
  }

  @Override
  public Behavior<Command> onMessage(Command command) {
    return switch (command) {
      case Advanced m -> onAdvanced(m.core());
      case Ask m -> {
        m.replyTo().tell(new Answer(cores.values().stream().map(this::shown).toList()));
        yield this;
      }
      case AwaitEnded m -> onAwaitEnded(m);
      case Reached m -> onReached(m);
      case Forgotten m -> {
        cores
            .values()
            .removeIf(
                core ->
                    core.partition() == m.partition()
                        && m.sessions().contains(core.key().session()));
        yield this;
      }
      case Left m -> {
        cores.values().removeIf(core -> core.partition() == m.partition());
        reached.remove(m.partition());
        yield this;
      }
      case Lost m -> {
        deaths = m.deaths();
        waiting.removeIf(this::answered);
        yield this;
      }
    };
  }

  private Behavior<Command> onAdvanced(CoreProgress core) {
    cores.put(core.key(), core);
    if (core.ended()) {
      waiting.removeIf(waiter -> waiter.saw(core) && answered(waiter));
    }
    return this;
  }

  private Behavior<Command> onReached(Reached m) {
    reached.put(m.partition(), m.nextOffset());
    if (!deaths.sessions().isEmpty()) {
      waiting.removeIf(this::answered);
    }
    return this;
  }

  private CoreProgress shown(CoreProgress core) {
    return core.with(deaths, reached.getOrDefault(core.partition(), 0L));
  }

  private Behavior<Command> onAwaitEnded(AwaitEnded request) {
    Waiter waiter = new Waiter(request, new HashSet<>());
    cores.values().stream().filter(CoreProgress::ended).forEach(waiter::saw);
    if (!answered(waiter)) {
      waiting.add(waiter);
    }
    return this;
  }

  private boolean answered(Waiter waiter) {
    List<CoreProgress> dead = deaths.sessions().isEmpty() ? List.of() : dead(waiter);
    boolean all = waiter.ended().size() + dead.size() >= waiter.wanted();
    if (all) {
      waiter.request().replyTo().tell(new Ended(dead));
    }
    return all;
  }

  private List<CoreProgress> dead(Waiter waiter) {
    return cores.values().stream()
        .filter(core -> waiter.waitsFor(core.key()))
        .map(this::shown)
        .filter(CoreProgress::isDead)
        .toList();
  }

  /**
   * A caller that waits.
   *
   * @param ended cores of the request that were seen to end, wherever their partitions are now
   */
  private record Waiter(AwaitEnded request, Set<CoreKey> ended) {
    int wanted() {
      return request.cores().isEmpty() ? request.count() : request.cores().size();
    }

    boolean waitsFor(CoreKey core) {
      return !ended.contains(core) && (request.cores().isEmpty() || request.cores().contains(core));
    }

    /** Takes note of a core that has ended; false where that is nothing new to this one. */
    boolean saw(CoreProgress core) {
      return waitsFor(core.key()) && ended.add(core.key());
    }
  }
}
