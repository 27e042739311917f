package dev.retstack.fleet.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.testing.Seeds;
import java.util.Random;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

final class GlobTest {
  private static final int ROUNDS = 20_000;

  /** By trying every way to share the name among the parts: slow, and obviously right. */
  private static boolean matches(String glob, String name) {
    if (glob.isEmpty()) {
      return name.isEmpty();
    }
    if (glob.charAt(0) == '*') {
      return matches(glob.substring(1), name)
          || (!name.isEmpty() && matches(glob, name.substring(1)));
    }
    if (name.isEmpty()) {
      return false;
    }
    if (glob.charAt(0) == '[') {
      int close = glob.indexOf(']', 2);
      return isMember(glob.substring(1, close), name.charAt(0))
          && matches(glob.substring(close + 1), name.substring(1));
    }
    return (glob.charAt(0) == '?' || glob.charAt(0) == name.charAt(0))
        && matches(glob.substring(1), name.substring(1));
  }

  private static boolean isMember(String inside, char c) {
    boolean not = inside.length() > 1 && inside.charAt(0) == '!';
    String members = not ? inside.substring(1) : inside;
    boolean member = false;
    for (int i = 0; i < members.length(); i++) {
      if (i + 2 < members.length() && members.charAt(i + 1) == '-') {
        member |= members.charAt(i) <= c && c <= members.charAt(i + 2);
        i += 2;
      } else {
        member |= members.charAt(i) == c;
      }
    }
    return member != not;
  }

  @Test
  void matchesAsBySearch() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    String[] parts = {
      "a", "b", ".", "_", "$", "*", "?", "[ab]", "[!a]", "[a-c]", "[.^\\]", "(", "+"
    };
    int matched = 0;
    for (int i = 0; i < ROUNDS; i++) {
      String glob = draw(random, 1 + random.nextInt(5), parts);
      String name = draw(random, random.nextInt(6), "a", "b", "c", ".", "_", "$", "(", "\n");
      boolean expected = matches(glob, name);
      matched += expected ? 1 : 0;
      assertThat(Glob.parse(glob).matches(name))
          .as("'%s' on '%s', seed %d", glob, name, seed)
          .isEqualTo(expected);
    }
    assertThat(matched).as("seed %d", seed).isBetween(ROUNDS / 50, ROUNDS / 2);
  }

  private static String draw(Random random, int count, String... parts) {
    return random
        .ints(count, 0, parts.length)
        .mapToObj(i -> parts[i])
        .collect(Collectors.joining());
  }

  @Test
  void aHostileGlobTakesNoTime() {
    String glob = "*a".repeat(400) + "b";

    assertThat(Glob.parse(glob).matches("a".repeat(2_000))).isFalse();
  }

  @Test
  void whatIsNoGlobIsRefused() {
    assertThatThrownBy(() -> Glob.parse("")).hasMessage("empty name: say '*' for all");
    assertThatThrownBy(() -> Glob.parse("a[bc"))
        .hasMessage("'[' without ']' in 'a[bc': close it, or write '?' for any character");
    assertThatThrownBy(() -> Glob.parse("[c-a]"))
        .hasMessage("no range: 'c-a' in '[c-a]'; say the lower character first");
  }
}
