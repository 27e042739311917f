package dev.retstack.fleet.control;

import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.io.IOException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;

/**
 * Hands the commands of a channel to the cores that they select. Answers once for the fleet: how
 * many cores it handed a command to, or why to none. The cores answer for themselves.
 *
 * <p>Safe for use by several threads. A caller that replaces a post holds the desk's monitor
 * meanwhile, so that its cores miss no command and get none twice.
 */
public final class ControlDesk {
  /** Cores that are reached together: those of this process, or those of a child. */
  public interface Post {
    /** The cores that have not ended, by number. */
    SortedMap<Integer, CoreIdentity> running();

    /**
     * Hands a command on.
     *
     * @param sent when it came into the log
     * @param cores numbers of those that it selects; at least one
     */
    void command(Command command, Instant sent, List<Integer> cores);
  }

  private final String session;
  private final ControlChannel channel;
  private final FleetControl control = new FleetControl();
  private final List<Post> posts = new ArrayList<>();

  public ControlDesk(String session, ControlChannel channel) {
    this.session = session;
    this.channel = channel;
  }

  /** Reads what was commanded before the fleet was there. */
  public void replay() throws IOException, InterruptedException {
    channel.replay(this::past);
  }

  private synchronized void past(ControlChannel.Entry entry) {
    try {
      control.add(Command.of(entry.control(), entry.number()), entry.sent());
    } catch (IllegalArgumentException e) {
      // its sender got that answer then
    }
  }

  /** From here on commands are followed. */
  public void listen() {
    channel.listen(this::take);
  }

  /**
   * Adds cores.
   *
   * @return what was commanded so far, which they begin with
   */
  public synchronized FleetControl join(Post post) {
    posts.add(post);
    return control;
  }

  /** Removes cores, which are gone. */
  public synchronized void leave(Post post) {
    posts.remove(post);
  }

  private synchronized void take(ControlChannel.Entry entry) {
    Command command;
    try {
      command = Command.of(entry.control(), entry.number());
      if (!control.add(command, entry.sent())) {
        return;
      }
    } catch (IllegalArgumentException e) {
      refuse(entry.id(), entry.number(), e.getMessage());
      return;
    }
    List<CoreIdentity> there = new ArrayList<>();
    Map<Post, List<Integer>> selected = new LinkedHashMap<>();
    for (Post post : posts) {
      post.running()
          .forEach(
              (core, identity) -> {
                there.add(identity);
                if (command.target().matches(identity)) {
                  selected.computeIfAbsent(post, _ -> new ArrayList<>()).add(core);
                }
              });
    }
    if (selected.isEmpty()) {
      refuse(command.id(), command.number(), command.target().whyNone(there));
      return;
    }
    answer(
        command.id(),
        command.number(),
        ControlResult.newBuilder()
            .setStatus(ControlStatus.ACCEPTED)
            .setCores(selected.values().stream().mapToInt(List::size).sum()));
    selected.forEach((post, cores) -> post.command(command, entry.sent(), cores));
  }

  private void refuse(String id, long number, String why) {
    answer(
        id,
        number,
        ControlResult.newBuilder().setStatus(ControlStatus.REFUSED).setReasons(List.of(why)));
  }

  /**
   * Answers a command, for the fleet or for a core.
   *
   * @param number of the command
   * @param answer complete but for the command, the session and the time
   */
  public void answer(String id, long number, ControlResult.Builder answer) {
    channel.answer(
        answer
            .setCommand(id)
            .setNumber(number)
            .setSession(session)
            .setAnsweredAt(System.currentTimeMillis())
            .build());
  }
}
