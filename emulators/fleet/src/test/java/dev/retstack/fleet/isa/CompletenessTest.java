package dev.retstack.fleet.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** An ISA is a card, one entry in the table, images and goldens: none may be missing. */
class CompletenessTest {
  @Test
  void everyConventionHasAnImageInTheManifest() {
    Set<AbiCard> shown = new HashSet<>();
    for (LoadedImage image : Zoo.images()) {
      AbiCard card = Zoo.card(image);
      shown.add(card);
      assertThat(image.conventions())
          .as(image.elf().name())
          .first() // single functions may be of another one
          .extracting(c -> c.card())
          .isSameAs(card);
      assertThat(image.callSites()).isNotEmpty();
    }
    for (Isa isa : Isas.all()) {
      assertThat(shown).as(isa.name()).containsAll(isa.conventions());
      isa.conventions().forEach(card -> assertThat(Zoo.image(isa, card).isa()).isSameAs(isa));
    }
  }

  @Test
  void theManifestHasTheDigestOfEveryImage() throws Exception {
    String manifest = Files.readString(Zoo.GUEST.resolve("images/manifest.json"));
    for (LoadedImage image : Zoo.images()) {
      Path file = Zoo.GUEST.resolve("images").resolve(image.elf().name());
      assertThat(manifest).contains(sha256(file));
    }
  }

  @Test
  void everyProgramOfTheManifestHasItsGoldens() throws IOException {
    String manifest = Files.readString(Zoo.GUEST.resolve("images/manifest.json"));
    List<String> programs =
        Pattern.compile("\\{\"name\": \"(\\w+)\"")
            .matcher(manifest)
            .results()
            .map(m -> m.group(1))
            .toList();
    assertThat(programs).hasSizeGreaterThan(10).isEqualTo(Zoo.programs());
    for (String program : programs) {
      for (String kind : List.of(".c", ".tree", ".counts")) {
        assertThat(Zoo.GUEST.resolve("programs/" + program + kind)).isNotEmptyFile();
      }
    }
  }

  @Test
  void namesAndMachinesAreDistinct() {
    assertThat(Isas.all()).extracting(Isa::name).doesNotHaveDuplicates();
    for (Isa isa : Isas.all()) {
      boolean big = isa.order() == ByteOrder.BIG_ENDIAN;
      assertThat(Isas.find(isa.machine(), isa.wordBytes(), big)).containsSame(isa);
      assertThat(isa.conventions()).extracting(AbiCard::name).doesNotHaveDuplicates();
      assertThat(isa.registers().results()).isNotEmpty();
      assertThat(Integer.bitCount(isa.landing().stride())).isEqualTo(1);
    }
  }

  private static String sha256(Path file) throws IOException, NoSuchAlgorithmException {
    return HexFormat.of()
        .formatHex(MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file)));
  }
}
