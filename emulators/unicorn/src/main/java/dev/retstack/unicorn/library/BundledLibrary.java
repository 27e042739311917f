package dev.retstack.unicorn.library;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.SymbolLookup;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** A library in C that the build compiled for this host and put on the class path. */
public final class BundledLibrary {
  private BundledLibrary() {}

  /**
   * Loads a library, for good. Its functions go before those of the same name in libraries that are
   * loaded later.
   *
   * @param beside the class that it lies beside
   * @throws IOException where none was compiled, or it cannot be copied to a file
   */
  public static SymbolLookup load(Class<?> beside, String file) throws IOException {
    try (InputStream in = beside.getResourceAsStream(file)) {
      if (in == null) {
        throw new IOException("no " + file + ": none was compiled when this was built");
      }
      Path copy = Files.createTempFile(file.replaceAll("^lib|\\.so$", ""), ".so");
      try {
        Files.copy(in, copy, StandardCopyOption.REPLACE_EXISTING);
        return UnicornLibrary.loadAhead(copy);
      } finally {
        Files.delete(copy); // the loader has it
      }
    }
  }
}
