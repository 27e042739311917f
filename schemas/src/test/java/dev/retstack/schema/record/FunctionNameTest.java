package dev.retstack.schema.record;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class FunctionNameTest {
  @Test
  void eachNameIsThatOfTheFunction() {
    FunctionName name = new FunctionName("one", List.of("eins", "uno"));
    assertThat(name.is("one"::equals)).isTrue();
    assertThat(name.is("uno"::equals)).isTrue();
    assertThat(name.is("eins"::equals)).isTrue();
    assertThat(name.is("two"::equals)).isFalse();
    assertThat(new FunctionName("").is(String::isEmpty)).isTrue();
  }

  @Test
  void moreNamesAreAddedOnceAndInOrder() {
    FunctionName name = new FunctionName("one", List.of("uno"));
    assertThat(name.and(List.of("eins", "one", "uno")).others()).containsExactly("eins", "uno");
    assertThat(name.and(List.of())).isSameAs(name);
    List<String> many = IntStream.range(0, 10_000).mapToObj(i -> "n" + i).toList();
    assertThat(name.and(many).others()).hasSize(FunctionName.OTHERS_MAX);
  }

  @Test
  void aSentenceListsTheFirstOthers() {
    assertThat(new FunctionName("one").text()).isEqualTo("one");
    assertThat(new FunctionName("one", List.of("eins", "uno")).text())
        .isEqualTo("one (also named eins, uno)");
    assertThat(new FunctionName("one", List.of("a", "b", "c", "d", "e", "f", "g")).text())
        .isEqualTo("one (also named a, b, c, d, e and 2 more)");
  }
}
