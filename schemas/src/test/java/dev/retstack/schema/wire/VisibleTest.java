package dev.retstack.schema.wire;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What a terminal obeys is shown instead. */
class VisibleTest {
  @Test
  void plainTextIsTheSameString() {
    for (String text : new String[] {"", "main+0x4", "größe", "関数", "😀", "a b\\x1b"}) {
      assertThat(Visible.line(text)).isSameAs(text);
      assertThat(Visible.lines(text)).isSameAs(text);
    }
    assertThat(Visible.lines("a\tb\r\nc\n")).isEqualTo("a\tb\r\nc\n");
  }

  @Test
  void whatIsObeyedIsShown() {
    assertThat(Visible.line("a\u001b[2Jb")).isEqualTo("a\\x1b[2Jb");
    assertThat(Visible.line("a\n\r\tb")).isEqualTo("a\\x0a\\x0d\\x09b");
    assertThat(Visible.line("\u007f\u0085\u009b")).isEqualTo("\\u007f\\u0085\\u009b");
    assertThat(Visible.line("\u202e\u2066\u200b\u2028\u2029\ufeff"))
        .isEqualTo("\\u202e\\u2066\\u200b\\u2028\\u2029\\ufeff");
    assertThat(Visible.line("\ud800x")).isEqualTo("\\ud800x");
    assertThat(Visible.line("\udb40\udc41")).isEqualTo("\\udb40\\udc41"); // a tag, of no width
    assertThat(Visible.lines("a\rb\r\n\u001b\n")).isEqualTo("a\\x0db\r\n\\x1b\n");
  }

  @Test
  void nothingButPlainCharactersAndLineEndsIsLeft() {
    for (int c = 0; c <= Character.MAX_CODE_POINT; c++) {
      String text = new StringBuilder("x").appendCodePoint(c).append('y').toString();
      assertThat(Visible.line(text).codePoints().allMatch(Visible::isPlain)).isTrue();
    }
  }
}
