package dev.retstack.unicorn;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Writes the Java constants of this module from the C headers of Unicorn: those that the
 * repository's sources use, the error codes, and the other names of registers in use. Only
 * identifiers and numbers are taken: they are the facts of the interface; no text of the headers is
 * copied.
 *
 * <p>Runs as it stands, without a build: {@code java ConstantsGenerator.java HEADERS OUT SOURCES},
 * where HEADERS is the directory of {@code unicorn.h}, OUT that of the package's sources, and
 * SOURCES that of the repository.
 */
public final class ConstantsGenerator {
  private static final String PACKAGE = "dev.retstack.unicorn";

  /** Which header becomes which class. */
  private static final Map<String, String> CLASSES =
      new TreeMap<>(
          Map.of(
              "unicorn.h", "UcConst",
              "x86.h", "X86Const",
              "arm.h", "ArmConst",
              "arm64.h", "Arm64Const",
              "riscv.h", "RiscvConst",
              "mips.h", "MipsConst",
              "ppc.h", "PpcConst",
              "s390x.h", "S390xConst",
              "m68k.h", "M68kConst",
              "sparc.h", "SparcConst"));

  private static final Pattern NAME = Pattern.compile("\\bUC_[A-Z0-9_]+\\b");
  private static final Pattern COMMENT = Pattern.compile("/\\*.*?\\*/|//[^\\n]*", Pattern.DOTALL);
  private static final Pattern DECLARATION =
      Pattern.compile(
          "typedef\\s+enum\\s+(\\w+)\\s*\\{([^}]*)\\}|^#define[ \\t]+(UC_\\w+)[ \\t]+(\\S[^\\n]*)$",
          Pattern.MULTILINE);

  private ConstantsGenerator() {}

  /**
   * Writes every generated source.
   *
   * @param args directory of the headers, of the package's sources, of the repository
   */
  public static void main(String[] args) throws IOException {
    if (args.length != 3) {
      System.err.println("usage: java ConstantsGenerator.java HEADERS OUT SOURCES");
      System.exit(2);
    }
    Set<String> used = used(Path.of(args[2]));
    for (Map.Entry<String, String> source : generate(Path.of(args[0]), used).entrySet()) {
      Files.writeString(Path.of(args[1], source.getKey()), source.getValue());
    }
  }

  /** Names that the Java sources of a repository use, but those that are generated. */
  static Set<String> used(Path repository) throws IOException {
    Set<String> used = new HashSet<>();
    try (Stream<Path> files = Files.walk(repository)) {
      for (Path file : files.filter(f -> f.toString().matches(".*/src/.*\\.java")).toList()) {
        if (!CLASSES.containsValue(file.getFileName().toString().replace(".java", ""))) {
          NAME.matcher(Files.readString(file)).results().forEach(name -> used.add(name.group()));
        }
      }
    }
    return used;
  }

  /** Returns file name to source text, for the headers in a directory and the names to keep. */
  static Map<String, String> generate(Path headers, Set<String> used) throws IOException {
    Map<String, String> sources = new TreeMap<>();
    for (Map.Entry<String, String> entry : CLASSES.entrySet()) {
      List<Group> groups = parse(Files.readString(headers.resolve(entry.getKey())));
      List<Group> kept = groups.stream().map(group -> group.keeping(used)).toList();
      sources.put(entry.getValue() + ".java", constants(entry.getKey(), entry.getValue(), kept));
      if (entry.getKey().equals("unicorn.h")) {
        sources.put("UcError.java", errors(groups));
      }
    }
    return sources;
  }

  /** The names of one C enum, or one run of macros (then without a name), in the header's order. */
  private record Group(String name, Map<String, Long> values) {
    /** Without the names that are not used; a register in use keeps all of its names. */
    Group keeping(Set<String> used) {
      Set<Long> registers = new HashSet<>();
      values.forEach(
          (key, value) -> {
            if (key.contains("_REG_") && used.contains(key)) {
              registers.add(value);
            }
          });
      Map<String, Long> kept = new LinkedHashMap<>();
      values.forEach(
          (key, value) -> {
            if (used.contains(key) || (key.contains("_REG_") && registers.contains(value))) {
              kept.put(key, value);
            }
          });
      return new Group(name, kept);
    }
  }

  private static List<Group> parse(String header) {
    String text = COMMENT.matcher(header.replace("\r", "")).replaceAll("").replace("\\\n", " ");
    Map<String, Long> known = new HashMap<>();
    List<Group> groups = new ArrayList<>();
    Matcher declaration = DECLARATION.matcher(text);
    while (declaration.find()) {
      if (declaration.group(1) != null) {
        groups.add(new Group(declaration.group(1), enumerators(declaration.group(2), known)));
      } else {
        macro(declaration.group(3), declaration.group(4), known, groups);
      }
    }
    return groups;
  }

  private static Map<String, Long> enumerators(String body, Map<String, Long> known) {
    Map<String, Long> values = new LinkedHashMap<>();
    long next = 0;
    for (String item : body.split(",", -1)) {
      if (item.isBlank()) {
        continue;
      }
      String[] parts = item.split("=", 2);
      String name = parts[0].strip();
      long value = parts.length == 1 ? next : new Expression(parts[1], known).value();
      values.put(name, value);
      known.put(name, value);
      next = value + 1;
    }
    return values;
  }

  private static void macro(String name, String body, Map<String, Long> known, List<Group> groups) {
    long value;
    try {
      value = new Expression(body, known).value();
    } catch (IllegalArgumentException e) {
      return; // not an integer: a cast, a call of another macro
    }
    known.put(name, value);
    if (groups.isEmpty() || !groups.getLast().name().isEmpty()) {
      groups.add(new Group("", new LinkedHashMap<>()));
    }
    groups.getLast().values().put(name, value);
  }

  private static String constants(String header, String type, List<Group> groups) {
    StringBuilder out = new StringBuilder(preamble(header));
    out.append("/** Numbers of {@code ").append(header).append("}: those in use. */\n");
    out.append("public final class ").append(type).append(" {\n");
    for (Group group : groups) {
      if (group.values().isEmpty()) {
        continue;
      }
      String title = group.name().isEmpty() ? "macros" : "enum " + group.name();
      out.append("  // ").append(title).append('\n');
      group
          .values()
          .forEach(
              (name, value) ->
                  out.append(
                      String.format(
                          "  public static final int %s = %d;%n", name, Math.toIntExact(value))));
      out.append('\n');
    }
    return out.append("  private ").append(type).append("() {}\n}\n").toString();
  }

  private static String errors(List<Group> groups) {
    Group errors =
        groups.stream().filter(group -> group.name().equals("uc_err")).findFirst().orElseThrow();
    List<String> lines = new ArrayList<>();
    errors
        .values()
        .forEach(
            (name, code) ->
                lines.add("  %s(%d)".formatted(name.replaceFirst("UC_ERR_", ""), code)));
    lines.add("  /** A code that these headers do not know. */\n  UNKNOWN(-1)");
    return preamble("unicorn.h")
        + """
        /** The error codes of Unicorn ({@code uc_err}). */
        public enum UcError {
        %s;

          private static final UcError[] VALUES = values();

          private final int code;

          UcError(int code) {
            this.code = code;
          }

          /** Returns the number that the C interface uses. */
          public int code() {
            return code;
          }

          /** Returns the error of a code of the C interface. */
          static UcError of(int code) {
            for (UcError error : VALUES) {
              if (error.code == code) {
                return error;
              }
            }
            return UNKNOWN;
          }
        }
        """
            .formatted(String.join(",\n", lines));
  }

  private static String preamble(String header) {
    return """
    // Generated from %s of Unicorn 2.1.4 by ConstantsGenerator; to regenerate see README.md.
    package %s;

    """
        .formatted(header, PACKAGE);
  }

  /** An integer constant expression of C: numbers, known names, {@code + | <<} and brackets. */
  private static final class Expression {
    private static final Pattern TOKEN = Pattern.compile("\\s*(<<|[()+|]|\\w+)");

    private final List<String> tokens = new ArrayList<>();
    private final Map<String, Long> known;
    private int next;

    Expression(String text, Map<String, Long> known) {
      this.known = known;
      Matcher token = TOKEN.matcher(text.strip());
      int end = 0;
      while (token.find() && token.start() == end) {
        tokens.add(token.group(1));
        end = token.end();
      }
      if (end != text.strip().length()) {
        throw new IllegalArgumentException("no integer expression: " + text);
      }
    }

    long value() {
      long value = or();
      if (next != tokens.size()) {
        throw new IllegalArgumentException("left over: " + tokens.subList(next, tokens.size()));
      }
      return value;
    }

    private boolean accept(String token) {
      boolean there = next < tokens.size() && tokens.get(next).equals(token);
      next += there ? 1 : 0;
      return there;
    }

    private long or() {
      long value = shift();
      while (accept("|")) {
        value |= shift();
      }
      return value;
    }

    private long shift() {
      long value = sum();
      while (accept("<<")) {
        value <<= sum();
      }
      return value;
    }

    private long sum() {
      long value = atom();
      while (accept("+")) {
        value += atom();
      }
      return value;
    }

    private long atom() {
      if (accept("(")) {
        long value = or();
        if (!accept(")")) {
          throw new IllegalArgumentException("missing bracket in " + tokens);
        }
        return value;
      }
      if (next == tokens.size()) {
        throw new IllegalArgumentException("unfinished expression " + tokens);
      }
      String token = tokens.get(next++);
      Long value = known.get(token);
      if (value != null) {
        return value;
      }
      if (!Character.isDigit(token.charAt(0))) {
        throw new IllegalArgumentException("unknown name " + token);
      }
      return Long.decode(token);
    }
  }
}
