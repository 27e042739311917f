package dev.retstack.service.query;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.http.BadRequestException;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.state.StateCopy;
import dev.retstack.service.identity.AnswerSeal;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** What questions hold of partitions is bounded, in one of them and in all together. */
class HeapRoomTest {
  private static final long MOST = 1000;
  private final HeapRoom room = new HeapRoom(MOST);

  @Test
  void aPartThatDoesNotFitIsMissingAndSaysWhy() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    PartStream.Writer writer = new PartStream.Writer(seal(), _ -> new byte[AnswerSeal.BYTES]);
    bytes.write(writer.head());
    for (int partition = 0; partition < 4; partition++) {
      Part part =
          new Part(
              partition, 1, 1, 1, 0, StateCopy.Waiting.NONE, new byte[400], Optional.empty(), "");
      for (byte[] one : writer.part(part)) {
        bytes.write(one);
      }
    }
    for (byte[] one : writer.end()) {
      bytes.write(one);
    }
    List<Part> got = new ArrayList<>();
    try (HeapRoom.Share share = room.share()) {
      PartStream.read(
          new ByteArrayInputStream(bytes.toByteArray()), share, seal(), (_, _) -> true, got::add);
      assertThat(room.held()).isEqualTo(800);
      share.requireAlone();
    }
    assertThat(got).extracting(Part::partition).containsExactly(0, 1, 2, 3);
    assertThat(got).extracting(Part::isAbsent).containsExactly(false, false, true, true);
    assertThat(got.getLast().absent())
        .contains("partition 3 takes 400 bytes", "of 1000 that questions may hold", "800 are held")
        .contains("more heap");
    assertThat(room.held()).isZero();
  }

  private static AnswerSeal seal() {
    return new AnswerSeal("challenge", "http://member", "/parts/own");
  }

  @Test
  void manyQuestionsHoldNoMoreThanOneMay() {
    HeapRoom.Share first = room.share();
    first.weigh(2);
    assertThat(first.take(0, 300)).isEmpty();
    HeapRoom.Share second = room.share();
    assertThat(second.take(0, 300)).isEmpty();
    assertThat(second.take(1, 300).orElseThrow()).contains("ask again in a moment");
    assertThat(room.held()).isEqualTo(900);
    assertThatThrownBy(second::requireAlone)
        .isInstanceOfSatisfying(
            BadRequestException.class,
            refused -> {
              assertThat(refused.status()).isEqualTo(429);
              assertThat(refused)
                  .hasMessage(
                      "other questions hold 600 of the 1000 bytes that all may hold at once");
            });
    first.close();
    assertThat(first.take(0, 1)).as("answered already").isPresent();
    assertThat(second.take(1, 300)).isEmpty();
    second.close();
    assertThat(room.held()).isZero();
  }
}
