package dev.retstack.cli;

import dev.retstack.cli.house.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;

/** A checkout as it is after a build, in another folder: what the launcher and scripts need. */
public final class BuiltCheckout {
  private BuiltCheckout() {}

  /**
   * Makes it. Its jars are links.
   *
   * @param classes the class path: first what is the command's own
   */
  public static void make(Path checkout, List<Path> classes) throws IOException {
    List<String> files =
        List.of(
            "retstack",
            "pom.xml",
            "deploy/setup.sh",
            "deploy/packages",
            "deploy/install/jvm.args",
            "deploy/install/jvm.sh",
            "emulators/unicorn/src/main/resources/dev/retstack/unicorn/library/libunicorn.sha256");
    for (String file : files) {
      copy(checkout, file);
    }
    Files.createDirectories(checkout.resolve("schemas"));
    Files.createDirectories(checkout.resolve("pipeline"));
    Path probe =
        checkout.resolve(
            "emulators/fleet/target/classes/dev/retstack/fleet/probe/nativec/libretstack-probe.so");
    Files.createFile(Files.createDirectories(probe.getParent()).resolve(probe.getFileName()));
    Path target = checkout.resolve("deploy/cli/target");
    Path lib = Files.createDirectories(target.resolve("lib"));
    List<String> names = new ArrayList<>();
    for (Path entry : classes) {
      String name = names.size() + ".jar";
      link(lib.resolve(name), entry);
      names.add("@/" + name);
    }
    Files.createSymbolicLink(target.resolve("retstack-cli.jar"), lib.resolve("0.jar"));
    Files.writeString(target.resolve("classpath"), String.join(":", names));
    Files.createFile(target.resolve("built"));
  }

  /** Copies a file of this checkout to the same place there. */
  public static void copy(Path checkout, String file) throws IOException {
    Path copy = checkout.resolve(file);
    Files.createDirectories(copy.getParent());
    Files.copy(Repository.root().resolve(file), copy, StandardCopyOption.REPLACE_EXISTING);
  }

  /** Another user may read a jar, but not the folder of this one that it lies in. */
  private static void link(Path link, Path to) throws IOException {
    if (Files.isDirectory(to)) {
      Files.createSymbolicLink(link, to);
      return;
    }
    try {
      Files.createLink(link, to);
    } catch (IOException | UnsupportedOperationException e) {
      Files.copy(to, link); // on another disk
    }
  }
}
