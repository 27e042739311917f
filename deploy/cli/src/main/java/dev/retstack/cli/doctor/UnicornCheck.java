package dev.retstack.cli.doctor;

import dev.retstack.unicorn.LibraryLocator;
import dev.retstack.unicorn.UnicornLoadException;
import java.util.Locale;
import java.util.Optional;

/** Which libunicorn an emulation would load. */
final class UnicornCheck {
  private UnicornCheck() {}

  static Finding run() {
    try {
      LibraryLocator locator = LibraryLocator.ofThisProcess();
      LibraryLocator.Found found = locator.locate();
      String detail =
          "%s %s (%s)"
              .formatted(
                  found.path(), found.version(), found.source().name().toLowerCase(Locale.ROOT));
      return found
          .warning()
          .or(() -> unpinned(locator, found))
          .map(warning -> Finding.warn("libunicorn", detail, warning))
          .orElseGet(() -> Finding.ok("libunicorn", detail));
    } catch (UnicornLoadException e) {
      return Finding.missing("libunicorn", e.getMessage(), "deploy/setup.sh libunicorn");
    }
  }

  /** One that the user names, or the system's, is trusted; whose it is he shall know. */
  private static Optional<String> unpinned(LibraryLocator locator, LibraryLocator.Found found) {
    return found.source() != LibraryLocator.Source.SYSTEM && locator.isPinned(found.path())
        ? Optional.empty()
        : Optional.of(
            "this is not the pinned library: trust it, or unset %s and -D%s and run deploy/setup.sh libunicorn"
                .formatted(LibraryLocator.ENVIRONMENT, LibraryLocator.PROPERTY));
  }
}
