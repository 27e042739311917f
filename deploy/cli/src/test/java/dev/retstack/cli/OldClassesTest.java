package dev.retstack.cli;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.DataInputStream;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

final class OldClassesTest {
  @TempDir private Path folder;

  @Test
  void eachClassOfPicocliGetsStackMapsThatTheJvmAccepts() throws Exception {
    Path original = jarOf(CommandLine.class);
    Path jar = Files.copy(original, folder.resolve("picocli.jar"));
    assertThat(oldClasses(jar)).isNotEmpty();

    OldClasses.main(new String[] {jar.toString()});

    assertThat(oldClasses(jar)).isEmpty();
    assertThat(sizes(jar).keySet()).isEqualTo(sizes(original).keySet());
    URL[] path = {jar.toUri().toURL()};
    try (URLClassLoader rewritten = new URLClassLoader(path, new Without("picocli."))) {
      for (String name : classNames(jar)) {
        assertThat(Class.forName(name, true, rewritten).getClassLoader()).isSameAs(rewritten);
      }
    }
  }

  @Test
  void aJarOfNewClassesStaysAsItIs() throws Exception {
    Path original = jarOf(org.assertj.core.api.Assertions.class);
    Path jar = Files.copy(original, folder.resolve("new.jar"));
    OldClasses.main(new String[] {jar.toString()});
    assertThat(sizes(jar)).isEqualTo(sizes(original));
  }

  private static Path jarOf(Class<?> type) throws Exception {
    return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
  }

  private static List<String> classNames(Path jar) throws IOException {
    return sizes(jar).keySet().stream()
        .filter(name -> name.startsWith("picocli/") && name.endsWith(".class"))
        .map(name -> name.replace('/', '.').replaceFirst("[.]class$", ""))
        .toList();
  }

  /** Classes that no class archive holds. */
  private static List<String> oldClasses(Path jar) throws IOException {
    List<String> old = new ArrayList<>();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      for (ZipEntry entry : zip.stream().filter(e -> e.getName().endsWith(".class")).toList()) {
        try (DataInputStream in = new DataInputStream(zip.getInputStream(entry))) {
          in.skipNBytes(6);
          if (in.readUnsignedShort() < ClassFile.JAVA_6_VERSION) {
            old.add(entry.getName());
          }
        }
      }
    }
    return old;
  }

  private static Map<String, Long> sizes(Path jar) throws IOException {
    Map<String, Long> sizes = new TreeMap<>();
    try (ZipFile zip = new ZipFile(jar.toFile())) {
      zip.stream().forEach(entry -> sizes.put(entry.getName(), entry.getSize()));
    }
    return sizes;
  }

  /** The loader of this test, which does not know one package. */
  private static final class Without extends ClassLoader {
    private final String packageName;

    private Without(String packageName) {
      super(OldClassesTest.class.getClassLoader());
      this.packageName = packageName;
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (name.startsWith(packageName)) {
        throw new ClassNotFoundException(name);
      }
      return super.loadClass(name, resolve);
    }
  }
}
