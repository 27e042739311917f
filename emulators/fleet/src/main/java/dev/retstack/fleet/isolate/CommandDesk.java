package dev.retstack.fleet.isolate;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.control.FleetControl;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Hands the commands that come through a channel to the children whose cores they select, and
 * answers for the fleet. Each child is told the past when it starts, so cores that start again
 * trace what those trace that were there.
 */
final class CommandDesk {
  private final String session;
  private final ControlChannel channel;
  private final FleetControl control = new FleetControl();
  private final List<CommandPost> posts = new ArrayList<>();

  CommandDesk(String session, ControlChannel channel) {
    this.session = session;
    this.channel = channel;
  }

  /** Takes what was commanded before the fleet was there. */
  void replay() throws IOException, InterruptedException {
    channel.replay(this::past);
  }

  private synchronized void past(ControlChannel.Entry entry) {
    try {
      control.add(Command.of(entry.control(), entry.number()), entry.sent());
    } catch (IllegalArgumentException e) {
      // who gave it was told so then
    }
  }

  /** Commands that come from here on are followed. */
  void listen() {
    channel.listen(this::take);
  }

  /** A post for cores that start now: they miss no command, and get none twice. */
  synchronized CommandPost join(List<CoreStream> cores) {
    CommandPost post = new CommandPost(cores, session, channel);
    post.join(control.commands());
    posts.add(post);
    return post;
  }

  /** A child is gone; in the same moment those of its cores join that start again. */
  synchronized CommandPost replace(CommandPost gone, String why, List<CoreStream> again) {
    gone.close(why);
    posts.remove(gone);
    return again.isEmpty() ? gone : join(again);
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
    Map<CommandPost, List<Integer>> selected = new LinkedHashMap<>();
    for (CommandPost post : posts) {
      for (int core : post.running()) {
        CoreIdentity identity = post.core(core).spec().identity();
        there.add(identity);
        if (command.target().matches(identity)) {
          selected.computeIfAbsent(post, _ -> new ArrayList<>()).add(core);
        }
      }
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

  private void answer(String id, long number, ControlResult.Builder answer) {
    channel.answer(
        answer
            .setCommand(id)
            .setNumber(number)
            .setSession(session)
            .setAnsweredAt(System.currentTimeMillis())
            .build());
  }
}
