package dev.retstack.cli;

import java.io.IOException;
import java.io.OutputStream;
import java.lang.classfile.ClassFile;
import java.lang.classfile.ClassFile.ClassHierarchyResolverOption;
import java.lang.classfile.ClassFile.StackMapsOption;
import java.lang.classfile.ClassFileVersion;
import java.lang.classfile.ClassHierarchyResolver;
import java.lang.classfile.ClassModel;
import java.lang.classfile.ClassTransform;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Collections;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * Rewrites a jar whose classes are older than Java 6. Such classes have no stack maps, so the JVM
 * keeps them out of each class archive (JEP 483): it reads and verifies them anew at each start.
 */
public final class OldClasses {
  private OldClasses() {}

  /**
   * Rewrites one jar.
   *
   * @param arguments the jar, which is replaced
   */
  public static void main(String[] arguments) throws IOException {
    Path jar = Path.of(arguments[0]);
    Path rewritten = Path.of(jar + ".new");
    try (ZipFile from = new ZipFile(jar.toFile());
        OutputStream file = Files.newOutputStream(rewritten);
        ZipOutputStream to = new ZipOutputStream(file);
        URLClassLoader classes = new URLClassLoader(new URL[] {jar.toUri().toURL()})) {
      ClassFile classFile =
          ClassFile.of(
              StackMapsOption.GENERATE_STACK_MAPS,
              ClassHierarchyResolverOption.of(ClassHierarchyResolver.ofResourceParsing(classes)));
      for (ZipEntry entry : Collections.list(from.entries())) {
        byte[] bytes = from.getInputStream(entry).readAllBytes();
        to.putNextEntry(new ZipEntry(entry.getName()));
        to.write(entry.getName().endsWith(".class") ? rewrite(classFile, bytes) : bytes);
      }
    }
    Files.move(rewritten, jar, StandardCopyOption.REPLACE_EXISTING);
  }

  private static byte[] rewrite(ClassFile classFile, byte[] bytes) {
    ClassModel old = classFile.parse(bytes);
    if (old.majorVersion() >= ClassFile.JAVA_6_VERSION) {
      return bytes;
    }
    ClassTransform version =
        (to, element) ->
            to.with(
                element instanceof ClassFileVersion
                    ? ClassFileVersion.of(ClassFile.JAVA_8_VERSION, 0)
                    : element);
    // each method's code is built anew, or it would be copied without stack maps
    ClassTransform code =
        ClassTransform.transformingMethodBodies((to, element) -> to.with(element));
    return classFile.transformClass(old, code.andThen(version));
  }
}
