package dev.retstack.cli.doctor;

import dev.retstack.unicorn.LibraryLocator;
import dev.retstack.unicorn.UnicornLoadException;
import java.util.Locale;

/** Which libunicorn an emulation would load. */
final class UnicornCheck {
  private UnicornCheck() {}

  static Finding run() {
    try {
      LibraryLocator.Found found = LibraryLocator.ofThisProcess().locate();
      String detail =
          "%s %s (%s)"
              .formatted(
                  found.path(), found.version(), found.source().name().toLowerCase(Locale.ROOT));
      return found
          .warning()
          .map(warning -> Finding.warn("libunicorn", detail, warning))
          .orElseGet(() -> Finding.ok("libunicorn", detail));
    } catch (UnicornLoadException e) {
      return Finding.missing("libunicorn", e.getMessage(), "deploy/setup.sh libunicorn");
    }
  }
}
