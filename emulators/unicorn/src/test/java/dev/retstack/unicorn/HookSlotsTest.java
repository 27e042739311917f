package dev.retstack.unicorn;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.unicorn.HookSlots.Slot;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class HookSlotsTest {
  @Test
  void tokenThatOutlivesItsHookFindsNothingEvenWhenItsPlaceIsTakenAgain() {
    Slot old = HookSlots.add(null, "old");
    HookSlots.remove(old);
    List<Slot> later = new ArrayList<>();
    for (int i = 0; i < 200; i++) { // more than the table starts with: it grows
      later.add(HookSlots.add(null, i));
    }
    assertThat(later).anyMatch(slot -> (int) slot.token() == (int) old.token());
    assertThat(HookSlots.get(old.token())).isNull();
    HookSlots.remove(old); // a second time: not the new owner of the place
    for (Slot slot : later) {
      assertThat(HookSlots.get(slot.token())).isSameAs(slot);
    }
    int live = HookSlots.live();
    later.forEach(HookSlots::remove);
    assertThat(HookSlots.live()).isEqualTo(live - 200);
  }
}
