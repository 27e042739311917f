package dev.retstack.unicorn.library;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.unicorn.Unicorn;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermission;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class LibraryLocatorTest {
  private static final String NO_SUCH_LIBRARY = "libno-such-unicorn.so.2";

  @TempDir private Path directory;

  private static LibraryLocator locator(
      Map<String, String> properties, Map<String, String> environment) {
    return new LibraryLocator(
        name ->
            properties.getOrDefault(name, name.startsWith("os.") ? System.getProperty(name) : null),
        environment::get,
        NO_SUCH_LIBRARY);
  }

  private Path install() throws Exception {
    Path cache = Files.createDirectories(directory.resolve("retstack/unicorn-2.1.4"));
    return Files.copy(Unicorn.library().path(), cache.resolve(NO_SUCH_LIBRARY));
  }

  @Test
  void withoutAnyLibraryTheMessageNamesEveryPlaceAndTheCure() {
    assertThatThrownBy(
            () -> locator(Map.of(), Map.of("XDG_CACHE_HOME", directory.toString())).locate())
        .isInstanceOf(UnicornLoadException.class)
        .hasMessageContaining("-Dretstack.libunicorn is not set")
        .hasMessageContaining("RETSTACK_LIBUNICORN is not set")
        .hasMessageContaining(directory + "/retstack/unicorn-2.1.4/" + NO_SUCH_LIBRARY)
        .hasMessageContaining(NO_SUCH_LIBRARY + " does not load")
        .hasMessageContaining("run deploy/setup.sh libunicorn");
  }

  @Test
  void cacheIsFoundAndWhatIsNamedGoesBeforeIt() throws Exception {
    Path file = install();
    Map<String, String> cache = Map.of("XDG_CACHE_HOME", directory.toString());
    LibraryLocator.Found found = locator(Map.of(), cache).locate();
    assertThat(found.path()).isEqualTo(file);
    assertThat(found.source()).isEqualTo(LibraryLocator.Source.CACHE);
    assertThat(found.version()).isEqualTo(Unicorn.version());

    Map<String, String> both =
        Map.of("XDG_CACHE_HOME", directory.toString(), "RETSTACK_LIBUNICORN", file.toString());
    assertThat(locator(Map.of(), both).locate().source())
        .isEqualTo(LibraryLocator.Source.ENVIRONMENT);
    assertThat(locator(Map.of("retstack.libunicorn", file.toString()), both).locate().source())
        .isEqualTo(LibraryLocator.Source.PROPERTY);
  }

  @Test
  void aCachedLibraryThatIsNotThePinnedOneIsRefused() throws Exception {
    Path file = install();
    Map<String, String> cache = Map.of("XDG_CACHE_HOME", directory.toString());
    assertThat(locator(Map.of(), cache).isPinned(file)).isTrue();
    try (RandomAccessFile one = new RandomAccessFile(file.toFile(), "rw")) {
      one.seek(one.length() - 1); // behind all that the loader reads: it would load
      int last = one.read();
      one.seek(one.length() - 1);
      one.write(last ^ 1);
    }
    assertThat(locator(Map.of(), cache).isPinned(file)).isFalse();
    assertThatThrownBy(() -> locator(Map.of(), cache).locate())
        .isInstanceOf(UnicornLoadException.class)
        .hasMessageContaining(file + " is not the pinned libunicorn 2.1.4")
        .hasMessageContaining("delete " + file.getParent())
        .hasMessageContaining("set RETSTACK_LIBUNICORN");
    Map<String, String> named = Map.of("RETSTACK_LIBUNICORN", file.toString());
    assertThat(locator(Map.of(), named).locate().version())
        .as("trusted, since the user names it")
        .isEqualTo(UnicornVersion.TESTED);
    Map<String, String> other = Map.of("os.name", "Linux", "os.arch", "riscv64");
    assertThatThrownBy(() -> locator(other, cache).locate())
        .hasMessageContaining("pinned is none for linux-riscv64");
  }

  @Test
  void aLibraryThatDidNotChangeIsReadOnce() throws Exception {
    Path file = install();
    Path note = file.resolveSibling(NO_SUCH_LIBRARY + ".proof");
    Map<String, String> cache = Map.of("XDG_CACHE_HOME", directory.toString());
    locator(Map.of(), cache).locate();
    String proof = Files.readString(note);
    String pin = proof.substring(0, proof.indexOf(' '));
    assertThat(LibraryProof.of(file, pin).holds()).isTrue();
    assertThat(LibraryProof.of(file, "0".repeat(64)).holds()).as("of another content").isFalse();

    FileTime written = Files.getLastModifiedTime(file);
    try (RandomAccessFile one = new RandomAccessFile(file.toFile(), "rw")) {
      one.seek(one.length() - 1);
      int last = one.read();
      one.seek(one.length() - 1);
      one.write(last ^ 1);
    }
    Files.setLastModifiedTime(file, written);
    assertThat(LibraryProof.of(file, pin).holds())
        .as("of the same size and time, but changed")
        .isFalse();
    assertThatThrownBy(() -> locator(Map.of(), cache).locate())
        .hasMessageContaining("is not the pinned libunicorn");
  }

  @Test
  void aProofThatAnotherUserCouldHaveWrittenIsNotBelieved() throws Exception {
    Path file = install();
    Path note = file.resolveSibling(NO_SUCH_LIBRARY + ".proof");
    Map<String, String> cache = Map.of("XDG_CACHE_HOME", directory.toString());
    locator(Map.of(), cache).locate();
    String proof = Files.readString(note);
    String pin = proof.substring(0, proof.indexOf(' '));
    for (Path writable : List.of(note, note.getParent())) {
      Set<PosixFilePermission> before = Files.getPosixFilePermissions(writable);
      Set<PosixFilePermission> group = EnumSet.copyOf(before);
      group.add(PosixFilePermission.GROUP_WRITE);
      Files.setPosixFilePermissions(writable, group);
      assertThat(LibraryProof.of(file, pin).holds()).as("%s, %s", writable, group).isFalse();
      Files.setPosixFilePermissions(writable, before);
      assertThat(LibraryProof.of(file, pin).holds()).as("%s, %s", writable, before).isTrue();
    }
    if (Files.getAttribute(Path.of("/proc/self"), "unix:uid").equals(0)) {
      Files.setAttribute(note, "unix:uid", 65_534);
      assertThat(LibraryProof.of(file, pin).holds()).as("another user's").isFalse();
      Files.setAttribute(note, "unix:uid", 0);
    }
    Path elsewhere = Files.move(note, directory.resolve("proof"));
    Files.createSymbolicLink(note, elsewhere);
    assertThat(LibraryProof.of(file, pin).holds()).as("a link").isFalse();
  }

  @Test
  void cacheIsInTheHomeDirectoryWhereXdgSaysNothing() {
    assertThat(locator(Map.of("user.home", "/home/x"), Map.of()).cacheDirectory())
        .isEqualTo(Path.of("/home/x/.cache/retstack/unicorn-2.1.4"));
  }

  @Test
  void whatTheUserNamesMustWork() throws Exception {
    install();
    Map<String, String> cache = Map.of("XDG_CACHE_HOME", directory.toString());
    Path other = Path.of(System.getProperty("java.home"), "lib", System.mapLibraryName("zip"));
    assertThatThrownBy(
            () -> locator(Map.of("retstack.libunicorn", "/nowhere/lib.so"), cache).locate())
        .isInstanceOf(UnicornLoadException.class)
        .hasMessageContaining("-Dretstack.libunicorn names /nowhere/lib.so");
    assertThatThrownBy(
            () -> locator(Map.of("retstack.libunicorn", other.toString()), cache).locate())
        .isInstanceOf(UnicornLoadException.class)
        .hasMessageContaining(other + " has no function uc_version");
  }

  @Test
  void anyOtherVersionHasAWarningThatSaysWhy() {
    Path file = Path.of("libunicorn.so.2");
    assertThat(LibraryLocator.warning(file, UnicornVersion.TESTED)).isEmpty();
    assertThat(LibraryLocator.warning(file, new UnicornVersion(2, 0, 1)).orElseThrow())
        .contains("2.0.1", "slower", "abort", "deploy/setup.sh libunicorn");
    assertThat(LibraryLocator.warning(file, new UnicornVersion(2, 1, 3)).orElseThrow())
        .contains("2.1.3", "tested with 2.1.4");
    assertThat(UnicornVersion.ofPacked(0x020104ff))
        .isEqualTo(UnicornVersion.TESTED)
        .hasToString("2.1.4");
  }

  @Test
  void withNativeAccessDeniedTheMessageNamesTheFlag() throws Exception {
    Process java =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "--illegal-native-access=deny",
                "-cp",
                System.getProperty("java.class.path"),
                Main.class.getName())
            .redirectErrorStream(true)
            .start();
    String said = new String(java.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(java.waitFor()).isNotZero();
    assertThat(said)
        .contains("UnicornLoadException")
        .contains("--enable-native-access=ALL-UNNAMED");
  }

  /** What the child JVM runs. */
  static final class Main {
    private Main() {}

    public static void main(String[] args) {
      System.out.println(Unicorn.version());
    }
  }
}
