package dev.retstack.fleet.zoo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Folders of images as users have them: what is wrong is told, with the cure. */
class ManifestTest {
  private static final String IMAGE = "zoo-riscv64-mcount.elf";

  @TempDir private Path folder;

  private void manifest(String text) throws IOException {
    Files.writeString(folder.resolve("manifest.json"), text);
  }

  private void manifestOf(String file) throws IOException {
    manifest(
        """
        {"images": [{"file": "%s", "isa": "riscv64", "convention": "mcount", "level": "O2"}]}
        """
            .formatted(file));
  }

  private void assertRefused(String... words) {
    assertThatThrownBy(() -> Zoo.images(Manifest.of(folder), ""))
        .isInstanceOf(IOException.class)
        .message()
        .contains(words);
  }

  @Test
  void theCommittedImagesHaveOne() throws Exception {
    Manifest manifest = Zoo.committed();
    assertThat(manifest.isas()).contains("x86_64", "sparc");
    assertThat(manifest.entries())
        .allSatisfy(
            entry -> {
              assertThat(entry.file()).startsWith("zoo-" + entry.isa() + "-" + entry.convention());
              assertThat(entry.level()).isEqualTo("O2");
              assertThat(entry.framePointers())
                  .as(entry.file())
                  .isNotEqualTo(entry.convention().endsWith("-nofp"));
            });
    assertThat(Zoo.images(manifest, "s390x")).extracting(i -> i.isa().name()).containsOnly("s390x");
  }

  @Test
  void aFolderThatIsNotThere() {
    folder = folder.resolve("gone");
    assertRefused("no such directory: " + folder, "emulators/guest/build.sh --levels DIR");
  }

  @Test
  void aFolderWithoutImages() throws Exception {
    assertRefused("no manifest.json in " + folder, "emulators/guest/build.sh --levels DIR");
    manifest("{}");
    assertRefused("no images in " + folder, "emulators/guest/build.sh --levels DIR");
  }

  @Test
  void aManifestThatIsNone() throws Exception {
    manifest("images?");
    assertRefused(folder + "/manifest.json is not a manifest: ", "images");
    manifest("{\"images\": [{\"file\": \"zoo-riscv64-mcount.elf\"}]}");
    assertRefused("is not a manifest: an image without \"isa\"");
  }

  @Test
  void anImageThatIsNotThere() throws Exception {
    manifestOf(IMAGE);
    assertRefused("no such file: " + folder.resolve(IMAGE));
  }

  @Test
  void anImageOfAnUnknownName() throws Exception {
    Files.copy(Zoo.GUEST.resolve("images").resolve(IMAGE), folder.resolve("zoo-riscv64-mc.elf"));
    manifestOf("zoo-riscv64-mc.elf");
    assertRefused(
        "zoo-riscv64-mc.elf: no convention of riscv64",
        "mcount, mcount-nofp, clang-mcount, patchable");
  }
}
