package dev.retstack.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;
import picocli.CommandLine.IVersionProvider;

/** The version of this build, and the JVM that runs it. */
public final class Version implements IVersionProvider {
  @Override
  public String[] getVersion() {
    return new String[] {
      "retstack " + number(),
      "Java " + Runtime.version() + " (" + System.getProperty("java.vendor") + ")"
    };
  }

  /** Version as in the POM, such as {@code 0.1.0-SNAPSHOT}. */
  public static String number() {
    Properties build = new Properties();
    try (InputStream in = Version.class.getResourceAsStream("/retstack-build.properties")) {
      build.load(in);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return build.getProperty("version");
  }
}
