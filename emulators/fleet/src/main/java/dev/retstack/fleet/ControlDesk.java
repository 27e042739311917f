package dev.retstack.fleet;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.control.CoreIdentity;
import dev.retstack.fleet.control.FleetControl;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import java.io.IOException;
import java.time.Instant;
import java.util.List;

/**
 * Hands the commands that come through a channel to the cores that they select. Answers once for
 * the fleet: how many cores it handed a command to, or why to none.
 */
final class ControlDesk {
  private final String session;
  private final List<CoreTask> cores;
  private final ControlChannel channel;
  private final FleetControl control = new FleetControl();

  ControlDesk(String session, List<CoreTask> cores, ControlChannel channel) {
    this.session = session;
    this.cores = cores;
    this.channel = channel;
  }

  /** Every core, none of them opened, is to trace what was commanded so far. */
  void replay() throws IOException, InterruptedException {
    channel.replay(this::past);
    cores.forEach(core -> core.join(control));
  }

  private void past(ControlChannel.Entry entry) {
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

  private void take(ControlChannel.Entry entry) {
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
    List<CoreTask> running = cores.stream().filter(core -> core.result() == null).toList();
    List<CoreTask> selected =
        running.stream().filter(core -> command.target().matches(core.identity())).toList();
    if (selected.isEmpty()) {
      List<CoreIdentity> there = running.stream().map(CoreTask::identity).toList();
      refuse(command.id(), command.number(), command.target().whyNone(there));
      return;
    }
    answer(
        command.id(),
        command.number(),
        ControlResult.newBuilder().setStatus(ControlStatus.ACCEPTED).setCores(selected.size()));
    selected.forEach(core -> core.command(command, a -> answer(command.id(), command.number(), a)));
  }

  private void refuse(String id, long number, String why) {
    answer(id, number, CoreSettings.refused(why));
  }

  private void answer(String id, long number, ControlResult.Builder answer) {
    channel.answer(
        answer
            .setCommand(id)
            .setNumber(number)
            .setSession(session)
            .setAnsweredAt(Instant.now().toEpochMilli())
            .build());
  }
}
