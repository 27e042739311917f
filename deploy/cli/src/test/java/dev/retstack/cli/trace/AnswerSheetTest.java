package dev.retstack.cli.trace;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.schema.ControlResult;
import dev.retstack.schema.ControlStatus;
import dev.retstack.service.control.AnswerSheet;
import dev.retstack.testing.Seeds;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AnswerSheetTest {
  private static ControlResult fleet(String session, int cores) {
    return answer(session, "")
        .setStatus(cores > 0 ? ControlStatus.ACCEPTED : ControlStatus.REFUSED)
        .setReasons(cores > 0 ? List.of() : List.of("none of " + session))
        .setCores(cores)
        .build();
  }

  private static ControlResult core(String session, String core, ControlStatus status) {
    return answer(session, core).setStatus(status).build();
  }

  private static ControlResult.Builder answer(String session, String core) {
    return ControlResult.newBuilder().setCommand("c").setSession(session).setCore(core);
  }

  /** Answers overtake each other on their way. */
  @Test
  void completeWhenEveryCoreThatWasAnnouncedHasAnsweredInWhateverOrder() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    List<ControlResult> all = new ArrayList<>();
    all.add(fleet("s1", 2));
    all.add(core("s1", "a", ControlStatus.APPLIED));
    all.add(core("s1", "b", ControlStatus.APPLIED));
    all.add(fleet("s2", 1));
    all.add(core("s2", "a", ControlStatus.APPLIED));
    all.add(fleet("s3", 0));
    for (int round = 0; round < 200; round++) {
      Collections.shuffle(all, random);
      AnswerSheet sheet = new AnswerSheet("c");
      all.forEach(sheet::add);
      sheet.add(ControlResult.newBuilder(all.getFirst()).setCommand("another").build());

      assertThat(sheet.isComplete()).as("seed %d", seed).isTrue();
      assertThat(sheet.isAllApplied()).isTrue();
      assertThat(sheet.missing()).isZero();
      assertThat(sheet.cores()).hasSize(3);
      assertThat(sheet.refusals()).containsExactly("none of s3");
    }
  }

  @Test
  void aCoreThatIsMissingOrRefusesIsTold() {
    AnswerSheet sheet = new AnswerSheet("c");
    assertThat(sheet.isComplete()).isFalse();
    sheet.add(fleet("s1", 2));
    sheet.add(core("s1", "a", ControlStatus.REFUSED));
    assertThat(sheet.isComplete()).isFalse();
    assertThat(sheet.missing()).isOne();
    sheet.add(core("s1", "b", ControlStatus.APPLIED));
    assertThat(sheet.isComplete()).isTrue();
    assertThat(sheet.isAllApplied()).isFalse();
  }

  @Test
  void fleetsWithoutSuchCoresAreNoSuccess() {
    AnswerSheet sheet = new AnswerSheet("c");
    sheet.add(fleet("s1", 0));
    assertThat(sheet.isComplete()).isTrue();
    assertThat(sheet.isAllApplied()).isFalse();
  }
}
