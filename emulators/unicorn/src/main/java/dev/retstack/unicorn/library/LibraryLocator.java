package dev.retstack.unicorn.library;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.DigestInputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.function.UnaryOperator;

/**
 * Finds libunicorn: where the user says, in the per-user cache that {@code deploy/setup.sh
 * libunicorn} fills, or on the system. A library that the user names must work, and is trusted;
 * there is no silent fallback. A library in the cache must be the pinned one; {@link LibraryProof}
 * says of an unchanged one that it is.
 */
public final class LibraryLocator {
  /** System property that names the library file. */
  public static final String PROPERTY = "retstack.libunicorn";

  /** Environment variable that names the library file. */
  public static final String ENVIRONMENT = "RETSTACK_LIBUNICORN";

  private static final UnicornVersion OLDEST_SOUND = new UnicornVersion(2, 1, 2);
  private static final String CURE =
      "run deploy/setup.sh libunicorn (it downloads "
          + UnicornVersion.TESTED
          + " with pip), or name a library with -D"
          + PROPERTY
          + "=FILE";

  private final UnaryOperator<String> properties;
  private final UnaryOperator<String> environment;
  private final String fileName;

  LibraryLocator(
      UnaryOperator<String> properties, UnaryOperator<String> environment, String fileName) {
    this.properties = properties;
    this.environment = environment;
    this.fileName = fileName;
  }

  /** Where a library was found. */
  public enum Source {
    /** named by {@link #PROPERTY} */
    PROPERTY,
    /** named by {@link #ENVIRONMENT} */
    ENVIRONMENT,
    /** the per-user cache */
    CACHE,
    /** the system's loader knows it */
    SYSTEM
  }

  /**
   * A library that loads.
   *
   * @param path its file; a bare name where the system's loader finds it
   * @param version what it says it is
   * @param source why this one
   * @param warning what is wrong with this version and how to fix it; empty if it is the tested one
   */
  public record Found(Path path, UnicornVersion version, Source source, Optional<String> warning) {}

  /** Returns the locator over this process's system properties and environment. */
  public static LibraryLocator ofThisProcess() {
    boolean mac = System.getProperty("os.name").toLowerCase(Locale.ROOT).contains("mac");
    return new LibraryLocator(
        System::getProperty, System::getenv, mac ? "libunicorn.2.dylib" : "libunicorn.so.2");
  }

  /**
   * Finds the library that {@code Unicorn.open} uses, or would use.
   *
   * @throws UnicornLoadException naming every place that was searched and the cure
   */
  public Found locate() {
    List<String> misses = new ArrayList<>();
    return named("-D" + PROPERTY, properties.apply(PROPERTY), Source.PROPERTY, misses)
        .or(() -> named(ENVIRONMENT, environment.apply(ENVIRONMENT), Source.ENVIRONMENT, misses))
        .or(() -> cached(misses))
        .or(() -> attempt(Path.of(fileName), Source.SYSTEM, misses))
        .orElseThrow(
            () ->
                new UnicornLoadException(
                    "no libunicorn: %s: %s".formatted(String.join("; ", misses), CURE)));
  }

  /** Returns where {@code deploy/setup.sh libunicorn} puts the library and its headers. */
  public Path cacheDirectory() {
    String cache = environment.apply("XDG_CACHE_HOME");
    Path base =
        cache == null || cache.isEmpty()
            ? Path.of(String.valueOf(properties.apply("user.home")), ".cache")
            : Path.of(cache);
    return base.resolve("retstack").resolve("unicorn-" + UnicornVersion.TESTED);
  }

  private Optional<Found> named(String by, String file, Source source, List<String> misses) {
    if (file == null || file.isEmpty()) {
      misses.add(by + " is not set");
      return Optional.empty();
    }
    if (!Files.isRegularFile(Path.of(file))) {
      throw new UnicornLoadException(
          "%s names %s, which is not a file: correct it, or unset it and %s"
              .formatted(by, file, CURE));
    }
    return Optional.of(found(Path.of(file).toAbsolutePath(), source));
  }

  private Optional<Found> cached(List<String> misses) {
    Path file = cacheDirectory().resolve(fileName);
    if (!Files.isRegularFile(file)) {
      misses.add(file + " does not exist");
      return Optional.empty();
    }
    if (!isProven(file)) {
      throw new UnicornLoadException(
          "%s is not the pinned libunicorn %s: its SHA-256 is %s, pinned is %s: delete %s and run deploy/setup.sh libunicorn, or set %s to a library that you trust"
              .formatted(
                  file,
                  UnicornVersion.TESTED,
                  sha256(file),
                  pin().orElse("none for " + platform()),
                  cacheDirectory(),
                  ENVIRONMENT));
    }
    return attempt(file, Source.CACHE, misses);
  }

  /**
   * True where a file is the library of {@link UnicornVersion#TESTED} as it was published. The file
   * is read: 25 MB, a quarter of a second of a new JVM.
   */
  public boolean isPinned(Path file) {
    return pin().filter(sha256(file)::equals).isPresent();
  }

  /**
   * As {@link #isPinned}, but a file that was pinned and did not change since is not read again.
   */
  private boolean isProven(Path file) {
    String pin = pin().orElse("");
    LibraryProof proof = LibraryProof.of(file, pin);
    if (proof.holds()) {
      return true;
    }
    boolean pinned = !pin.isEmpty() && isPinned(file);
    if (pinned) {
      proof.keep();
    }
    return pinned;
  }

  /** This machine as the pins name it. */
  private String platform() {
    boolean mac = properties.apply("os.name").toLowerCase(Locale.ROOT).contains("mac");
    return (mac ? "darwin-" : "linux-") + properties.apply("os.arch");
  }

  /** The SHA-256 of this machine's library. */
  private Optional<String> pin() {
    try (InputStream pins = LibraryLocator.class.getResourceAsStream("libunicorn.sha256")) {
      return new String(pins.readAllBytes(), StandardCharsets.UTF_8)
          .lines()
          .filter(line -> line.startsWith(platform() + " "))
          .map(line -> line.substring(line.lastIndexOf(' ') + 1))
          .findFirst();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String sha256(Path file) {
    try (InputStream in =
        new DigestInputStream(Files.newInputStream(file), MessageDigest.getInstance("SHA-256"))) {
      in.transferTo(OutputStream.nullOutputStream());
      return HexFormat.of().formatHex(((DigestInputStream) in).getMessageDigest().digest());
    } catch (IOException e) {
      throw new UnicornLoadException("cannot read %s: %s".formatted(file, e), e);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private Optional<Found> attempt(Path file, Source source, List<String> misses) {
    try {
      return Optional.of(found(file, source));
    } catch (UnicornLoadException e) {
      if (e.getCause() instanceof IllegalCallerException) {
        throw e; // no other file would be allowed either
      }
      misses.add(e.getMessage());
      return Optional.empty();
    }
  }

  private static Found found(Path file, Source source) {
    UnicornVersion version = UnicornLibrary.versionOf(file.toString());
    return new Found(file, version, source, warning(file, version));
  }

  /** Returns why a version is not to be trusted, if so. */
  static Optional<String> warning(Path file, UnicornVersion version) {
    if (version.equals(UnicornVersion.TESTED)) {
      return Optional.empty();
    }
    String why =
        version.compareTo(OLDEST_SOUND) < 0
            ? "it is 1.3 to 2 times slower, some guest bytes abort the process, and it may lack"
                + " the virtual TLB"
            : "retstack is measured and tested with " + UnicornVersion.TESTED + " only";
    return Optional.of("%s is libunicorn %s: %s: %s".formatted(file, version, why, CURE));
  }
}
