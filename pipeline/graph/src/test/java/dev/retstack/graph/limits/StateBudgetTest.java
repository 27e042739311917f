package dev.retstack.graph.limits;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.graph.limits.StateBudget.Account;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** STATE.md, "The budget": who may take how much of it. */
class StateBudgetTest {
  private static final long LIMIT = 8 << 20;
  private static final int STEP = 1 << 10;

  /** What a core of so many bytes takes at rest. */
  private static final int PACKED_PART = 4;

  private final StateBudget budget = new StateBudget(LIMIT, 0);

  @Test
  void manyAccountsThatTakeAllTheyGetStayOutOfTheLastSixteenth() {
    long first = 0;
    for (int i = 0; i < 20; i++) {
      Account account = budget.open(0);
      fill(account);
      first = i == 0 ? account.used() : first;
      assertThat(account.used()).isLessThanOrEqualTo(first);
    }
    assertThat(first).isBetween(LIMIT * 15 / 16 / 5 - STEP, LIMIT * 15 / 16 / 5);
    assertThat(budget.held()).isBetween(LIMIT * 7 / 8, LIMIT * 15 / 16);
  }

  @Test
  void anAccountHasWhatItWasPromisedWhateverOthersTook() {
    Account account = budget.open(StateBudget.PROMISE);
    budget.open(0).charge(LIMIT);
    fill(account);
    assertThat(account.used()).isEqualTo(StateBudget.PROMISE);
  }

  @Test
  void coresThatWakeOneAfterTheOtherDoNotTakeMoreThanThereIs() {
    List<Account> cores = new ArrayList<>();
    while (budget.hasRoom(StateBudget.PROMISE)) {
      Account core = budget.open(StateBudget.PROMISE);
      core.charge(STEP);
      core.rest(STEP);
      cores.add(core);
    }
    assertThat(cores.size() * StateBudget.PROMISE / PACKED_PART).isGreaterThan(4 * LIMIT);
    for (Account core : cores) {
      core.wake(StateBudget.PROMISE);
      core.charge(STEP);
      fill(core);
      core.rest(Math.max(STEP, core.used() / PACKED_PART));
    }
    assertThat(budget.held()).isBetween(LIMIT * 15 / 16, LIMIT);
    Account last = cores.getLast();
    last.wake(StateBudget.PROMISE);
    fill(last);
    assertThat(last.used()).as("what is left is for small ones").isPositive();
    cores.forEach(Account::close);
    assertThat(budget.reserved()).isZero();
  }

  private static void fill(Account account) {
    while (account.take(STEP)) {}
  }
}
