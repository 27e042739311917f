package dev.retstack.fleet.control;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class SelectorTest {
  private static final CoreIdentity CORE =
      new CoreIdentity("fw-0", "riscv64", "fw.elf", Map.of("rack", "7a", "role", "boot"));

  @ParameterizedTest
  @CsvSource({
    "all, true",
    "core=fw-0, true",
    "core=fw-?, true",
    "core=fw, false",
    "isa=riscv*, true",
    "isa=arm|riscv64, true",
    "isa=arm|riscv32, false",
    "image=*.elf, true",
    "label=rack:7*, true",
    "label=rack:8*, false",
    "label=shelf:*, false",
    "label.rack=7*, true",
    "label.rack=8|7?, true",
    "label.rack=8, false",
    "label.shelf=*, false",
    "'isa=riscv64,label.role=boot', true",
    "'isa=riscv64,label.role=main', false",
    "'isa=riscv64,label=role:boot', true",
    "'isa=riscv64,label=role:main', false",
    "'isa=arm,label=role:boot', false",
  })
  void forms(String text, boolean selects) {
    assertThat(Selector.parse(text).matches(CORE)).isEqualTo(selects);
    assertThat(Selector.parse(text)).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "every",
        "isa",
        "isa=",
        "=x",
        "isa=a|",
        "label=rack",
        "label=:7",
        "label.=7",
        "label.rack",
        "label.rack=",
        "label.rack=7|",
        "all,isa=a",
        "isa=a,",
        "isa=[a"
      })
  void whatIsNoTargetIsRefused(String text) {
    assertThatThrownBy(() -> Selector.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching(".+(; say all, core=NAME, isa=NAME|: close it).+");
  }

  @Test
  void anEmptySelectionSaysWhatThereIs() {
    List<CoreIdentity> cores =
        List.of(CORE, new CoreIdentity("b", "arm", "b.elf", Map.of("rack", "9")));

    assertThat(Selector.parse("isa=mips").whyNone(cores))
        .isEqualTo("target 'isa=mips' selects none of 2 cores: there are isa=arm, riscv64");
    assertThat(Selector.parse("label=rack:8").whyNone(cores))
        .isEqualTo(
            "target 'label=rack:8' selects none of 2 cores: there are label.rack=7a,"
                + " label.rack=9, label.role=boot");
    assertThat(Selector.parse("isa=arm,image=fw.elf").whyNone(cores))
        .isEqualTo("target 'isa=arm,image=fw.elf' selects none of 2 cores: no core is all of it");
    assertThat(Selector.parse("label=a:b").whyNone(List.of()))
        .isEqualTo("target 'label=a:b' selects none of 0 cores: no core has a label");
  }
}
