package dev.retstack.fleet.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.testing.Seeds;
import java.math.BigInteger;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FunctionPatternTest {
  private static final PatternSubject READ =
      new PatternSubject("vfs_read", 0x8010, ".init.text", "fw-7.elf");

  @ParameterizedTest
  @CsvSource({
    "vfs_read, true",
    "vfs, false",
    "Vfs_read, false",
    "vfs_*, true",
    "*_r?ad, true",
    "vfs_[a-q]*, false",
    "/_re/, true",
    "/^re/, false",
    "/^vfs_(read|open)$/, true",
    "/READ/, false",
    "/(?i)READ/, true",
    "0x8010, true",
    "0x8011, false",
    "0x8000-0x800f, false",
    "0x8000-0x8010, true",
    "0x8010-0xffffffffffffffff, true",
    "section:.init.text, true",
    "section:.init*, true",
    "section:.text, false",
    "image:fw-*.elf, true",
    "image:fw, false",
  })
  void formsOfPatterns(String text, boolean matches) {
    FunctionPattern pattern = FunctionPattern.parse(text);

    assertThat(pattern.matches(READ)).isEqualTo(matches);
    assertThat(pattern).hasToString(text).isEqualTo(FunctionPattern.parse(pattern.toString()));
  }

  /** The set looks up some of its patterns and asks the others. */
  @Test
  void aSetMeansWhatAnyOfItsPatternsMeans() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    List<String> texts =
        List.of("f1", "f2", "f3", "f*", "/3$/", "0x1", "0x2", "0x2-0x3", "section:.a", "image:b");
    for (int i = 0; i < 5_000; i++) {
      List<FunctionPattern> patterns =
          texts.stream().filter(_ -> random.nextInt(5) == 0).map(FunctionPattern::parse).toList();
      PatternSubject subject =
          new PatternSubject(
              random.nextInt(6) == 0 ? "" : "f" + random.nextInt(5),
              random.nextInt(5),
              random.nextBoolean() ? ".a" : "",
              random.nextBoolean() ? "b" : "c");

      assertThat(new PatternSet(patterns).test(subject))
          .as("seed %d: %s of %s", seed, subject, patterns)
          .isEqualTo(patterns.stream().anyMatch(pattern -> pattern.matches(subject)));
    }
  }

  @Test
  void rangesAreUnsigned() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    for (int i = 0; i < 5_000; i++) {
      long a = address(random);
      long b = address(random);
      boolean ordered = unsigned(a).compareTo(unsigned(b)) <= 0;
      long first = ordered ? a : b;
      long last = ordered ? b : a;
      long site = random.nextInt(4) == 0 ? first : address(random);
      boolean expected =
          unsigned(first).compareTo(unsigned(site)) <= 0
              && unsigned(site).compareTo(unsigned(last)) <= 0;
      String text = "0x%x-0x%x".formatted(first, last);

      assertThat(FunctionPattern.parse(text).matches(new PatternSubject("", site, "", "")))
          .as("%s of 0x%x, seed %d", text, site, seed)
          .isEqualTo(expected);
      if (first != last) {
        assertThatThrownBy(() -> FunctionPattern.parse("0x%x-0x%x".formatted(last, first)))
            .as("seed %d", seed)
            .hasMessageContaining("ends before it begins: say the lower address first");
      }
    }
  }

  private static long address(Random random) {
    return random.nextLong() >>> random.nextInt(64);
  }

  private static BigInteger unsigned(long address) {
    return new BigInteger(Long.toUnsignedString(address));
  }

  @Test
  void expressionsFindWhatJavasFind() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    String[] parts = {"a", "b", ".", "a*", "b+", "[ab]", "(a|bb)", "a?", "c{2}"};
    for (int i = 0; i < 5_000; i++) {
      StringBuilder expression = new StringBuilder(random.nextBoolean() ? "^" : "");
      random.ints(1 + random.nextInt(4), 0, parts.length).forEach(p -> expression.append(parts[p]));
      expression.append(random.nextBoolean() ? "$" : "");
      StringBuilder name = new StringBuilder();
      random.ints(random.nextInt(6), 'a', 'd').forEach(c -> name.append((char) c));

      assertThat(
              FunctionPattern.parse("/" + expression + "/")
                  .matches(new PatternSubject(name.toString(), 0, "", "")))
          .as("/%s/ on %s, seed %d", expression, name, seed)
          .isEqualTo(java.util.regex.Pattern.compile(expression.toString()).matcher(name).find());
    }
  }

  @Test
  void severalStandInOneText() {
    assertThat(FunctionPattern.parseAll("vfs_*,  main 0x80"))
        .containsExactly(
            FunctionPattern.parse("vfs_*"),
            FunctionPattern.parse("main"),
            FunctionPattern.parse("0x80"));
    assertThat(FunctionPattern.parseAll("/a, b/")).containsExactly(FunctionPattern.parse("/a, b/"));
    assertThat(FunctionPattern.parseAll(" ")).isEqualTo(List.of());
  }

  @Test
  void onlyANameIsAName() {
    assertThat(FunctionPattern.parse("main").name()).contains("main");
    assertThat(FunctionPattern.parse("mai?").name()).isEmpty();
    assertThat(FunctionPattern.parse("image:main").name()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        " ",
        "a b",
        "/",
        "//",
        "/a",
        "/(/",
        "/(a)\\1/",
        "0x",
        "0x-0x1",
        "0x1-",
        "0x1-5",
        "0xg",
        "0x+1",
        "0x-1",
        "0x11112222333344445",
        "section:",
        "image:",
        "@names.txt",
        "a[b"
      })
  void whatIsNoPatternIsRefusedWithACure(String text) {
    assertThatThrownBy(() -> FunctionPattern.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(text)
        .hasMessageMatching("(?s).+(say|takes|close) .+");
  }

  @Test
  void aLongPatternIsRefused() {
    assertThatThrownBy(() -> FunctionPattern.parse("a".repeat(FunctionPattern.LENGTH_MAX + 1)))
        .hasMessage("pattern of 1025 characters: at most 1024; say several shorter ones");
  }
}
