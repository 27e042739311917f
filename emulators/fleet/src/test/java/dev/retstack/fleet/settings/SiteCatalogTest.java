package dev.retstack.fleet.settings;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.testing.Images;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.schema.wire.NearNames;
import dev.retstack.testing.Seeds;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

final class SiteCatalogTest {
  private static SiteCatalog of(String... functions) {
    return SiteCatalog.of(
        "fw.elf",
        Stream.of(functions).map(f -> new PatternSubject(f, 0x1000, ".text", "fw.elf")).toList(),
        "",
        List.of());
  }

  @Test
  void aMisspeltNameBringsTheNearOnes() {
    SiteCatalog sites = of("vfs_read", "vfs_write", "Main", "do_fork");

    assertThat(sites.whyNone(FunctionPattern.parse("vfs_raed")))
        .isEqualTo("no function of fw.elf is 'vfs_raed': did you mean vfs_read?");
    assertThat(sites.whyNone(FunctionPattern.parse("main")))
        .isEqualTo("no function of fw.elf is 'main': did you mean Main?");
    assertThat(sites.whyNone(FunctionPattern.parse("fork")))
        .isEqualTo("no function of fw.elf is 'fork': did you mean do_fork?");
    assertThat(sites.whyNone(FunctionPattern.parse("zzz*")))
        .isEqualTo(
            "no function of fw.elf is 'zzz*': it has 4 functions with a call site, such as Main,"
                + " do_fork, vfs_read");
  }

  /** A command that names a function by another of its names is not refused. */
  @Test
  void eachNameOfAFunctionIsThere() {
    SiteCatalog sites =
        SiteCatalog.of(
            "fw.elf",
            List.of(
                new PatternSubject(
                    new FunctionName("one", List.of("uno", "eins")), 0x1000, ".text", "fw.elf")),
            "",
            List.of());
    for (String name : List.of("one", "uno", "eins", "un?", "/^ei/")) {
      assertThat(sites.has(FunctionPattern.parse(name))).as(name).isTrue();
    }
    assertThat(sites.has(FunctionPattern.parse("due"))).isFalse();
    assertThat(sites.whyNone(FunctionPattern.parse("unno")))
        .isEqualTo("no function of fw.elf is 'unno': did you mean uno?");
    assertThat(sites.whyNone(FunctionPattern.parse("zzzzz")))
        .isEqualTo(
            "no function of fw.elf is 'zzzzz': it has 1 function with a call site, such as one");
  }

  /** Changing a name by so many letters makes it no farther than that. */
  @Test
  void everyMisprintIsFound() {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    for (int i = 0; i < 2_000; i++) {
      String name =
          random
              .ints(6 + random.nextInt(8), 'a', 'e')
              .mapToObj(Character::toString)
              .collect(Collectors.joining());
      StringBuilder misprint = new StringBuilder(name);
      int at = random.nextInt(name.length() - 1);
      switch (random.nextInt(4)) {
        case 0 -> misprint.deleteCharAt(at);
        case 1 -> misprint.insert(at, 'x');
        case 2 -> misprint.setCharAt(at, 'x');
        default -> misprint.insert(at, misprint.charAt(at + 1)).deleteCharAt(at + 2);
      }
      assertThat(NearNames.of(misprint.toString(), List.of(name, "quite_another"), 3))
          .as("%s for %s, seed %d", misprint, name, seed)
          .containsExactly(name);
    }
    assertThat(NearNames.of("abcdef", List.of("uvwxyz", ""), 3)).isEmpty();
  }

  /** Nops may stand in front of the function that they belong to. */
  @Test
  void everySiteOfAnImageBelongsToAFunction() throws Exception {
    for (String convention : List.of("mcount", "patchable")) {
      LoadedImage image = LoadedImage.load(Images.of("ppc64le", convention));
      SiteCatalog sites = SiteCatalog.of(image);

      assertThat(sites.subjects()).hasSizeGreaterThan(50);
      assertThat(sites.subjects())
          .allMatch(s -> !s.names().shown().isEmpty() && s.section().contains("text"));
      assertThat(sites.has(FunctionPattern.parse("section:zoo_far_text")))
          .as("%s", convention)
          .isTrue();
      assertThat(sites.has(FunctionPattern.parse("run_w2000"))).isFalse();
    }
  }
}
