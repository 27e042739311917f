package dev.retstack.fleet.isolate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.control.Command;
import dev.retstack.fleet.control.ControlChannel;
import dev.retstack.fleet.control.ControlDesk;
import dev.retstack.fleet.control.LocalControlChannel;
import dev.retstack.fleet.control.Selector;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.settings.Order;
import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.schema.wire.ConfluentFrame;
import java.io.StreamCorruptedException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What a child says of commands is held against what it was asked. */
class CommandPostTest {
  private static final CoreSpec SPEC =
      new CoreSpec("a", Isolation.zoo(0), Isolation.program("sort"));

  private final List<ControlResult> answers = new ArrayList<>();
  private final CoreStream core = CoreStream.first(SPEC, "mine");
  private final CommandPost post =
      new CommandPost(
          List.of(core), new ControlDesk("mine", new LocalControlChannel(answers::add)));

  private static Command command(long number) {
    return new Command(
        "id-" + number,
        number,
        Instant.MAX,
        Selector.ALL,
        Order.parse("set-filter", List.of("run_*", "x\u20ac")));
  }

  private static byte[] answer(long number, ControlStatus status) {
    return ConfluentFrame.encode(
        ControlResult.newBuilder()
            .setCommand("another")
            .setNumber(number)
            .setSession("another")
            .setCore("another")
            .setStatus(status)
            .setSites(7)
            .setReasons(List.of("\u001b[31mred"))
            .build());
  }

  @Test
  void aCommandArrivesAsItWasGiven() throws Exception {
    Instant sent = Instant.ofEpochMilli(1_700_000_000_123L);
    ControlChannel.Entry entry = Frame.command(command(5), sent).command();
    assertThat(entry.sent()).isEqualTo(sent);
    assertThat(Command.of(entry.control(), entry.number())).isEqualTo(command(5));
    assertThatThrownBy(() -> new Frame(Frame.Kind.COMMAND, new byte[] {1, 2, 3}).command())
        .isInstanceOf(StreamCorruptedException.class);
  }

  @Test
  void aCoreAnswersOnceAndInItsOwnName() throws Exception {
    post.command(command(5), Instant.now(), List.of(0));
    post.answered(0, answer(5, ControlStatus.APPLIED));
    post.answered(0, answer(5, ControlStatus.APPLIED));
    post.answered(0, answer(6, ControlStatus.APPLIED));
    assertThat(answers)
        .singleElement()
        .satisfies(
            answer -> {
              assertThat(answer.getCommand()).isEqualTo("id-5");
              assertThat(answer.getCore()).isEqualTo("a");
              assertThat(answer.getSession()).isEqualTo("mine");
              assertThat(answer.getSites()).isEqualTo(7);
              assertThat(answer.getReasons()).containsExactly("\ufffd[31mred");
            });
  }

  @Test
  void whatIsNoAnswerOfACoreIsRefused() {
    post.command(command(5), Instant.now(), List.of(0));
    assertThatThrownBy(() -> post.answered(0, answer(5, ControlStatus.ACCEPTED)))
        .isInstanceOf(StreamCorruptedException.class)
        .hasMessage("answer of core a: ACCEPTED");
    assertThatThrownBy(() -> post.answered(0, new byte[] {0, 1, 2}))
        .isInstanceOf(StreamCorruptedException.class);
    assertThat(answers).isEmpty();
  }

  @Test
  void aChildThatDoesNotListenIsGivenNoMore() {
    for (int i = 0; i < CommandPost.OPEN_MAX; i++) {
      post.command(command(i), Instant.now(), List.of(0));
    }
    assertThat(answers).isEmpty();
    post.command(command(CommandPost.OPEN_MAX), Instant.now(), List.of(0));
    assertThat(answers)
        .singleElement()
        .extracting(ControlResult::getReasons)
        .asString()
        .contains("has not answered 1000 commands");
    post.close("gone");
    assertThat(answers).hasSize(1 + CommandPost.OPEN_MAX);
  }
}
