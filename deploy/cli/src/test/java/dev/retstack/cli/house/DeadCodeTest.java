package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMethod;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.Source;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.junit.AnalyzeClasses;
import com.tngtech.archunit.junit.ArchTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A method that nobody calls is deleted, or somebody forgot to call it. So it was with a bound of
 * the memory of an answer: the method that added up was there, and nothing was ever added.
 */
@AnalyzeClasses(packages = "dev.retstack", importOptions = ImportOption.DoNotIncludeTests.class)
class DeadCodeTest {
  private static final Pattern CALL = Pattern.compile("(\\w+)\\(|::(\\w+)");
  private static final Pattern NAME = Pattern.compile("\"(\\w+)\"");

  @ArchTest
  static void everyMethodIsCalled(JavaClasses classes) throws IOException {
    Set<String> elsewhere = calledElsewhere();
    Set<String> sources = sources();
    List<String> dead = new ArrayList<>();
    for (JavaClass type : classes) {
      if (isWritten(type, sources)) {
        type.getMethods().stream()
            .filter(method -> !isCalledByOthers(method) && !isCalled(method))
            .filter(method -> !elsewhere.contains(method.getName()))
            .map(JavaCodeUnit::getFullName)
            .forEach(dead::add);
      }
    }
    assertThat(dead).as("methods that nobody calls").isEmpty();
  }

  /** What the build generates, of schemas and of records, has all that somebody may want. */
  private static boolean isWritten(JavaClass type, Set<String> sources) {
    String folder = type.getPackageName().replace('.', '/');
    return type.getSource()
        .flatMap(Source::getFileName)
        .filter(file -> sources.contains(folder + "/" + file))
        .isPresent();
  }

  /** The files that somebody wrote, below the folders of their modules. */
  private static Set<String> sources() throws IOException {
    try (Stream<Path> files = Files.walk(Repository.root())) {
      return files
          .map(file -> file.toString().split("/src/main/java/", -1))
          .filter(parts -> parts.length == 2)
          .map(parts -> parts[1])
          .collect(Collectors.toSet());
    }
  }

  /** By the JVM, the compiler's code, or a library, which found an annotation or its own method. */
  private static boolean isCalledByOthers(JavaMethod method) {
    Set<JavaModifier> modifiers = method.getModifiers();
    JavaClass type = method.getOwner();
    boolean isOfRecord =
        type.isRecord()
            && method.getRawParameterTypes().isEmpty()
            && type.tryGetField(method.getName()).isPresent();
    boolean isOfEnum = type.isEnum() && Set.of("values", "valueOf").contains(method.getName());
    return modifiers.contains(JavaModifier.SYNTHETIC)
        || modifiers.contains(JavaModifier.BRIDGE)
        || method.getName().equals("main")
        || method.getName().startsWith("$")
        || method.getName().startsWith("lambda$")
        || !method.getAnnotations().isEmpty()
        || isOfRecord
        || isOfEnum
        || Stream.concat(type.getAllRawSuperclasses().stream(), type.getAllRawInterfaces().stream())
            .anyMatch(above -> has(above, method));
  }

  private static boolean has(JavaClass type, JavaMethod method) {
    return type.getMethods().stream().anyMatch(one -> isSame(one, method));
  }

  /** Types of parameters may differ: those of a generic type are erased. */
  private static boolean isSame(JavaMethod one, JavaMethod other) {
    return one.getName().equals(other.getName())
        && one.getRawParameterTypes().size() == other.getRawParameterTypes().size();
  }

  /** By another method, or by the name that a type below gives it. */
  private static boolean isCalled(JavaMethod method) {
    return Stream.concat(
            Stream.of(method),
            method.getOwner().getAllSubclasses().stream()
                .flatMap(below -> below.getMethods().stream())
                .filter(below -> isSame(below, method)))
        .anyMatch(
            one ->
                Stream.concat(
                        one.getCallsOfSelf().stream().map(call -> call.getOrigin()),
                        one.getReferencesToSelf().stream().map(call -> call.getOrigin()))
                    .anyMatch(origin -> !origin.equals(one)));
  }

  /** By tests and by modules that the command does not have, or by a name in a text. */
  private static Set<String> calledElsewhere() throws IOException {
    Set<String> names = new HashSet<>();
    try (Stream<Path> files = Files.walk(Repository.root())) {
      for (Path file : files.filter(f -> f.toString().endsWith(".java")).toList()) {
        String path = file.toString();
        if (path.contains("/src/main/java/")) {
          addAll(NAME, file, names);
        }
        if (path.contains("/src/test/java/")
            || path.contains("/pipeline/simulation/")
            || path.contains("/deploy/benchmarks/")) {
          addAll(CALL, file, names);
        }
      }
    }
    return names;
  }

  private static void addAll(Pattern pattern, Path file, Set<String> names) throws IOException {
    Matcher matcher = pattern.matcher(Files.readString(file));
    while (matcher.find()) {
      for (int i = 1; i <= matcher.groupCount(); i++) {
        if (matcher.group(i) != null) {
          names.add(matcher.group(i));
        }
      }
    }
  }
}
