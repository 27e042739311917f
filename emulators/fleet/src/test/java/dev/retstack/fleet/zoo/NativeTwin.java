package dev.retstack.fleet.zoo;

import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * A program of the zoo's kind run by this host, compiled so that it tells its own calls ({@code
 * emulators/guest/tools/oracle.c}).
 *
 * @param tree its calls; with tail calls
 * @param treeWithoutTails its calls where a marked tail call is a call like any other
 * @param counts calls of each function
 * @param output what it printed
 */
record NativeTwin(
    TreeText tree, TreeText treeWithoutTails, Map<String, Long> counts, String output) {

  /**
   * Compiles and runs.
   *
   * @param defines options for the preprocessor
   */
  static NativeTwin of(Path source, List<String> defines) throws IOException, InterruptedException {
    List<String> options =
        new ArrayList<>(
            List.of("-std=gnu17", "-O0", "-w", "-no-pie", "-rdynamic", "-ffp-contract=off"));
    options.addAll(List.of("-finstrument-functions", "-DZOO_ORACLE"));
    options.add("-I" + Zoo.GUEST.resolve("runtime"));
    options.addAll(defines);
    options.add(source.toString());
    options.add(Zoo.GUEST.resolve("tools/oracle.c").toString());
    options.add("-ldl");
    Path folder = source.toAbsolutePath().getParent();
    Path twin =
        GuestCompiler.compileWith("gcc", folder.resolve("twin"), options.toArray(String[]::new));
    Map<String, Long> counts = new TreeMap<>();
    for (String line : run(twin, "counts")) {
      String[] parts = line.split(" ", -1);
      counts.put(parts[0], Long.valueOf(parts[1]));
    }
    TreeText tree = TreeText.parse(run(twin, "tree"));
    return new NativeTwin(
        tree, TreeText.parse(run(twin, "tree-O0")), counts, Files.readString(said(twin)));
  }

  private static Path said(Path twin) {
    return twin.resolveSibling("twin.stderr");
  }

  private static List<String> run(Path twin, String what) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(twin.toString(), RandomProgram.NAME, what)
            .redirectError(said(twin).toFile())
            .start();
    String told = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    int code = process.waitFor();
    if (code != 0) {
      throw new AssertionError(
          "the native twin ended with %d: %s".formatted(code, Files.readString(said(twin))));
    }
    return told.lines().toList();
  }
}
