package dev.retstack.answers.search;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.answers.http.BadRequestException;
import java.util.function.Predicate;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a person types finds names, and costs a bounded time. */
@Timeout(60)
class NameMatchTest {
  private static Predicate<String> of(String text) {
    return new NameMatch(text).compiled();
  }

  @Test
  void anExpressionIsFoundAnywhereWhateverItsCase() {
    assertThat(of("w\\d+$")).accepts("W200", "draw12").rejects("w200_", "w");
    assertThat(of("LOOK")).accepts("lookup", "relook");
  }

  @Test
  void whatIsNoExpressionIsAText() {
    assertThat(of("operator(")).accepts("Operator()").rejects("operator");
    assertThat(of("[")).accepts("f[abi:cxx11]").rejects("f");
  }

  @Test
  void anExpressionThatWouldTakeForEverIsRefused() {
    String name = "a".repeat(4000) + "!";
    assertThatThrownBy(() -> of("(a+)+$").test(name))
        .isInstanceOf(BadRequestException.class)
        .hasMessageContaining("takes too long");
    assertThatThrownBy(() -> of("(a|b)*c{2}").test("ab".repeat(2000)))
        .isInstanceOf(BadRequestException.class);
    assertThat(of("a!").test("b".repeat(1 << 18))).isFalse();
  }
}
