package dev.retstack.cli.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LineMap;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import dev.retstack.machine.isa.Isas;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** Rules that class files do not show: what may stand in a source file. */
class SourceRulesTest {
  private static final Path ROOT = Repository.root();

  /** A string that nothing follows or precedes: a name, and no sentence. */
  private static final Pattern NAME = Pattern.compile("\"(\\w{3,})\"");

  /** What stands for an ISA as well: its number in ELF files, Unicorn's names of its registers. */
  private static final Pattern NUMBER =
      Pattern.compile("\\bEM_[A-Z]|machine\\(\\) *[!=]=|unicorn\\.(?!Uc)\\w+Const\\b|\\bUC_ARCH_");

  /** The binding speaks of Unicorn's architectures; it knows no ISA of the table. */
  private static final Path UNICORN = ROOT.resolve("emulators/unicorn");

  @Test
  void nobodyOutsideItsPackageAsksWhichIsaItIs() throws IOException {
    List<String> offenders = new ArrayList<>();
    for (Path file : mainSources()) {
      if (!file.toString().contains("/machine/isa/") && !file.startsWith(UNICORN)) {
        int number = 0;
        for (String line : Files.readAllLines(file)) {
          number++;
          boolean text = line.strip().startsWith("*") || line.strip().startsWith("//");
          if (!text && asksForAnIsa(line)) {
            offenders.add(ROOT.relativize(file) + ":" + number + " " + line.strip());
          }
        }
      }
    }
    assertThat(offenders).as("an ISA is data: ask its fields, or the ABI card").isEmpty();
  }

  @Test
  void everyPackageSaysWhatItIs() throws IOException {
    List<Path> silent = new ArrayList<>();
    for (Path file : mainSources()) {
      Path folder = file.getParent();
      if (!Files.exists(folder.resolve("package-info.java")) && !silent.contains(folder)) {
        silent.add(folder);
      }
    }
    assertThat(silent).as("packages without a package-info.java").isEmpty();
  }

  @Test
  void aQuestionForAnIsaIsSeen() {
    assertThat(asksForAnIsa("case \"ppc64le\" -> 8;")).isTrue();
    assertThat(asksForAnIsa("isa.name().startsWith(\"mips\")")).isTrue();
    assertThat(asksForAnIsa("if (elf.machine() == 8) {")).isTrue();
    assertThat(asksForAnIsa("import static dev.retstack.unicorn.X86Const.*;")).isTrue();
    assertThat(asksForAnIsa("row.put(\"isa\", isa.name());")).isFalse();
  }

  /** By the name of any ISA of the table, or the beginning of one, or a number for it. */
  private static boolean asksForAnIsa(String line) {
    return NUMBER.matcher(line).find()
        || NAME.matcher(line)
            .results()
            .map(name -> name.group(1))
            .anyMatch(name -> Isas.all().stream().anyMatch(isa -> isa.name().startsWith(name)));
  }

  /** A package of more than 20 files is two ideas. */
  private static final int FILES_MAX = 20;

  @Test
  void aPackageHasTwentyFilesAtMost() throws IOException {
    Map<String, Long> files = new TreeMap<>();
    for (Path file : mainSources()) {
      boolean isData = Files.readString(file).startsWith("// Generated");
      if (!isData && !file.endsWith("package-info.java")) {
        files.merge(packageOf(file), 1L, Long::sum);
      }
    }
    files.values().removeIf(count -> count <= FILES_MAX);
    assertThat(files).as("packages of more than %d files", FILES_MAX).isEmpty();
  }

  private static String packageOf(Path file) {
    String folder = file.getParent().toString();
    return folder.substring(folder.indexOf("/dev/retstack") + 1).replace('/', '.');
  }

  /** A longer method needs a reason. */
  private static final int METHOD_LINES_MAX = 100;

  /** Longer methods, and why. */
  private static final Map<String, String> LONGER =
      Map.of(
          "PackedDecoder.runUsual", "the fast loop, with its state in locals",
          "PackedEncoder.runUsual", "the fast loop, with its state in locals",
          "NativeProbe.<init>", "an argument of the probe in C a line");

  @Test
  void aMethodHasAHundredLinesAtMost() throws IOException {
    List<String> longer = new ArrayList<>();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, null)) {
      JavacTask task =
          (JavacTask)
              compiler.getTask(
                  null,
                  manager,
                  null,
                  null,
                  null,
                  manager.getJavaFileObjectsFromPaths(mainSources()));
      SourcePositions positions = Trees.instance(task).getSourcePositions();
      for (CompilationUnitTree unit : task.parse()) {
        new TreeScanner<Void, Void>() {
          @Override
          public Void visitMethod(MethodTree method, Void nothing) {
            LineMap lines = unit.getLineMap();
            long size =
                lines.getLineNumber(positions.getEndPosition(unit, method))
                    - lines.getLineNumber(positions.getStartPosition(unit, method))
                    + 1;
            String name =
                Path.of(unit.getSourceFile().getName())
                        .getFileName()
                        .toString()
                        .replace(".java", "")
                    + "."
                    + method.getName();
            if (size > METHOD_LINES_MAX && !LONGER.containsKey(name)) {
              longer.add(name + " " + size);
            }
            return super.visitMethod(method, null);
          }
        }.scan(unit, null);
      }
    }
    assertThat(longer).as("methods of more than %d lines", METHOD_LINES_MAX).isEmpty();
  }

  @Test
  void testsNeitherSleepNorMockNorStandAside() throws IOException {
    Pattern forbidden =
        Pattern.compile("Thread\\.sleep\\(|@Disabled\\b|org\\.mockito|TimeUnit\\.\\w+\\.sleep");
    List<String> offenders = new ArrayList<>();
    for (Path file : sources("src/test/java")) {
      if (!file.endsWith("SourceRulesTest.java")
          && forbidden.matcher(Files.readString(file)).find()) {
        offenders.add(ROOT.relativize(file).toString());
      }
    }
    assertThat(offenders).isEmpty();
  }

  /** A build that was whole stays so: who draws a seed of the clock hears what CI gives. */
  @Test
  void seedsOfTheClockCanBeGiven() throws IOException {
    Pattern drawn =
        Pattern.compile(
            "[sS]eed\\w* *=[^;]*nanoTime|SEED = [^;]*nanoTime|new (Splittable)?Random\\(\\)|ThreadLocalRandom");
    List<String> offenders = new ArrayList<>();
    for (Path file : sources("src/test/java")) {
      String text = Files.readString(file);
      if (!file.endsWith("SourceRulesTest.java")
          && drawn.matcher(text).find()
          && !text.contains("retstack.seed.default")) {
        offenders.add(ROOT.relativize(file).toString());
      }
    }
    assertThat(offenders).isEmpty();
  }

  @Test
  void nothingIsLeftForLater() throws IOException {
    Pattern unfinished = Pattern.compile("\\b(TODO|FIXME|XXX)\\b");
    List<String> offenders = new ArrayList<>();
    for (Path file : mainSources()) {
      if (unfinished.matcher(Files.readString(file)).find()) {
        offenders.add(ROOT.relativize(file).toString());
      }
    }
    assertThat(offenders).isEmpty();
  }

  @Test
  void everyFolderSaysWhatItIs() {
    for (String folder :
        List.of(
            ".",
            "schemas",
            "emulators",
            "emulators/unicorn",
            "emulators/guest",
            "emulators/machine",
            "emulators/fleet",
            "pipeline",
            "pipeline/graph",
            "pipeline/answers",
            "pipeline/service",
            "pipeline/simulation",
            "deploy",
            "deploy/benchmarks",
            "deploy/cli")) {
      assertThat(ROOT.resolve(folder).resolve("README.md")).exists();
    }
  }

  private static List<Path> mainSources() throws IOException {
    return sources("src/main/java");
  }

  private static List<Path> sources(String kind) throws IOException {
    List<Path> found = new ArrayList<>();
    for (String part : List.of("schemas", "emulators", "pipeline", "deploy")) {
      try (Stream<Path> files = Files.walk(ROOT.resolve(part))) {
        files
            .filter(file -> file.toString().contains("/" + kind + "/"))
            .filter(file -> file.toString().endsWith(".java"))
            .forEach(found::add);
      }
    }
    assertThat(found).isNotEmpty();
    return found;
  }
}
