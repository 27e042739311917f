package dev.retstack.service.progress;

import dev.retstack.graph.aggregate.CoreKey;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.apache.pekko.Done;
import org.apache.pekko.actor.typed.ActorRef;
import org.apache.pekko.actor.typed.Behavior;
import org.apache.pekko.actor.typed.javadsl.AbstractMatchingBehavior;
import org.apache.pekko.actor.typed.javadsl.ActorContext;
import org.apache.pekko.actor.typed.javadsl.Behaviors;

/**
 * Knows how far each core came, and tells those who wait for cores to end. It hears from the
 * partitions after each chunk; nobody has to ask it twice.
 */
public final class CoreWatch extends AbstractMatchingBehavior<CoreWatch.Command> {
  /** What the watch understands. */
  public sealed interface Command {}

  /** A chunk of a core was applied, or its state was loaded. */
  public record Advanced(CoreProgress core) implements Command {}

  /** Asks for all cores, sorted. */
  public record Ask(ActorRef<Answer> replyTo) implements Command {}

  /**
   * Completes a future when cores have ended: those named, or any {@code count} of them where none
   * is named. A future and not a reply, since this may take as long as the fleet runs.
   */
  public record AwaitEnded(Set<CoreKey> cores, int count, CompletableFuture<Done> done)
      implements Command {
    public AwaitEnded {
      cores = Set.copyOf(cores);
    }
  }

  /** Answer to {@link Ask}. */
  public record Answer(List<CoreProgress> cores) {
    public Answer {
      cores = List.copyOf(cores);
    }
  }

  private final Map<CoreKey, CoreProgress> cores = new TreeMap<>();
  private final Set<CoreKey> ended = new HashSet<>();
  private final List<AwaitEnded> waiting = new ArrayList<>();

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
        m.replyTo().tell(new Answer(new ArrayList<>(cores.values())));
        yield this;
      }
      case AwaitEnded m -> onAwaitEnded(m);
    };
  }

  private Behavior<Command> onAdvanced(CoreProgress core) {
    cores.put(core.key(), core);
    if (core.ended() && ended.add(core.key())) {
      waiting.removeIf(this::answered);
    }
    return this;
  }

  private Behavior<Command> onAwaitEnded(AwaitEnded request) {
    if (!answered(request)) {
      waiting.add(request);
    }
    return this;
  }

  private boolean answered(AwaitEnded request) {
    boolean all =
        request.cores().isEmpty()
            ? ended.size() >= request.count()
            : ended.containsAll(request.cores());
    if (all) {
      request.done().complete(Done.done());
    }
    return all;
  }
}
