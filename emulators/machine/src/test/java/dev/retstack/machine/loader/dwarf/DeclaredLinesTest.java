package dev.retstack.machine.loader.dwarf;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.testing.GuestCompiler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Functions have the line of their declaration, whatever was inlined where they begin. A function
 * of these sources has the number of that line in its name: {@code at7_} and {@code far9_} stand in
 * lines 7 and 9, and the body of the second begins elsewhere.
 */
final class DeclaredLinesTest {
  private static final Pattern NAMED = Pattern.compile("(at|far)(\\d+)_");

  private static final String HEADER =
      """
      #define OWN __attribute__((noinline))
      static inline __attribute__((always_inline)) int clamp(int x) { return x < 0 ? 0 : x & 255; }
      inline OWN int at3_(int x) { return clamp(x) * 3; }
      template <class T> struct Box {
        T t;
        T at11_(T x);
        OWN T at7_(T x) { return clamp(x) + t; }
        template <class U> OWN U at8_(U u) { return clamp(u) + t; }
      };
      template <class T> OWN
      T Box<T>::at11_(T x) { t += clamp(x); return t; }
      template <class T> OWN
      T far13_(T x)
      {
        return clamp(x) - 1;
      }
      """;

  private static final String SOURCE =
      """
      #include "boxes.h"
      int sink;
      struct Base { virtual ~Base(); virtual int at8_(int x); int at4_(int x); };
      OWN int Base::at4_(int x) { return clamp(x); }
      Base::~Base() {
        sink++;
      }
      int Base::at8_(int x) { return at3_(x); }
      struct In {
        int a;
        OWN int at11_(int x) { return clamp(a + x); }
      };
      #define DEFINE(name) OWN int name(int x) { return clamp(x) - sink; }
      DEFINE(at14_)
      DEFINE(at15_)
      namespace { OWN int at16_(int x) { return clamp(x) ^ sink; } }
      OWN
      int
      far19_(
        int x)
      {
        return clamp(x) + sink;
      }
      OWN int at24_(int x) { auto f = [&](int y) OWN { return clamp(y) + x; }; return f(sink); }
      OWN int at25_(int x) { struct L { int z; OWN int at25_(int y) { return clamp(y + z); } } l{x};
        return l.at25_(sink); }
      extern "C" OWN int at27_(int x) { if (__builtin_expect(x > 3, 0)) throw x; return clamp(x); }
      extern "C" int at28_(void) __attribute__((alias("at27_")));
      int main(int argc, char **argv) {
        Box<int> b{argc}; Box<long> c{argc}; In in{argc}; Base *base = new Base;
        int sum = b.at11_(argc) + c.at11_(argc) + b.at7_(argc) + c.at7_(argc) + b.at8_(4L);
        sum += base->at4_(argc) + base->at8_(argc) + in.at11_(argc) + at14_(argc) + at15_(argc);
        try { sum += at27_(argc); } catch (int x) { sum += x; }
        return sum + at16_(argc) + far19_(argc) + at24_(argc) + at25_(argc) + far13_(argc);
      }
      """;

  private static final String NESTED =
      """
      #define OWN __attribute__((noinline))
      static inline __attribute__((always_inline)) int clamp(int x) { return x < 0 ? 0 : x & 255; }
      OWN int at3_(int x) { return clamp(x); }
      OWN static int at4_(int x) { return clamp(x) + 1; }
      OWN int at5_(int x) {
        OWN int at6_(int y) { return clamp(y) + x; }
        return at6_(x + 1) + at6_(x);
      }
      OWN int
      far10_(int x)
      {
        return clamp(x) * 3;
      }
      #define DEFINE(name) OWN int name(int x) { return clamp(x) - 5; }
      DEFINE(at15_)
      int main(int argc, char **argv) {
        return at3_(argc) + at4_(argc) + at5_(argc) + far10_(argc) + at15_(argc);
      }
      """;

  private static final String RUST =
      """
      #[inline(always)] fn clamp(x: i32) -> i32 { if x < 0 { 0 } else { x & 255 } }
      struct In { a: i32 }
      impl In { #[inline(never)] fn at3_(&self, x: i32) -> i32 { clamp(self.a + x) } }
      #[inline(never)] fn at4_<T: Into<i32>>(x: T) -> i32 { clamp(x.into()) }
      #[inline(never)]
      fn far6_(
        x: i32) -> i32 {
        clamp(x) * 3
      }
      fn main() {
        let n = std::env::args().count() as i32;
        let sum = In { a: n }.at3_(n) + at4_(n) + at4_(n as i16) + far6_(n);
        std::process::exit(sum & 1);
      }
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @ValueSource(
      strings = {
        "g++ -g -O0",
        "g++ -g -O1",
        "g++ -g -O2",
        "g++ -g -O3",
        "g++ -g -Os -gz",
        "g++ -g -O2 -gz=zlib-gnu",
        "g++ -gdwarf-4 -O2 -gz=zlib-gnu",
        "g++ -g -O2 -flto",
        "g++ -g1 -O2",
        "g++ -g -O2 -gdwarf-2 -gstrict-dwarf",
        "g++ -g -O2 -gdwarf-3",
        "g++ -g -O2 -gdwarf-4 -fdebug-types-section",
        "g++ -g -O2 -gdwarf-5 -fdebug-types-section",
        "g++ -g -O2 -gdwarf-5 -gdwarf64",
        "g++ -g -O2 -pg",
        "g++ -g -O2 -pg -mfentry -static",
        "g++ -g -O2 -fpatchable-function-entry=8,3",
        "g++ -g -O2 -ffunction-sections -Wl,--gc-sections",
        "g++ -g -O2 -no-pie -fipa-icf",
        "g++ -g -O2 -m32",
        "clang++ -g -O0",
        "clang++ -g -O1",
        "clang++ -g -O2",
        "clang++ -g -Os -gdwarf-4",
        "clang++ -g -O2 -gdwarf-5 -fuse-ld=lld -ffunction-sections -Wl,--gc-sections",
        "clang++ -g -O2 -gdwarf-5 -fuse-ld=lld -fno-pie -no-pie -gz",
        "clang++ -g -O2 -flto -fuse-ld=lld",
        "clang++ -g -O2 -gdwarf-5 -gdwarf64",
        "clang++ -g -O2 -fdebug-types-section",
      })
  void functionsOfClassesAndTemplates(String command) throws Exception {
    SourceLines lines = compare(build(command, "boxes.cc", SOURCE), false, command);
    assertThat(lines.files().stream().map(DeclaredLinesTest::last))
        .as(command)
        .contains("boxes.cc", "boxes.h");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "gcc -g -O0",
        "gcc -g -O2",
        "gcc -g -O2 -flto",
        "gcc -g1 -O2",
        "i686-linux-gnu-gcc -g -O2",
        "aarch64-linux-gnu-gcc -g -O2",
        "arm-linux-gnueabihf-gcc -g -O2 -mthumb",
        "arm-linux-gnueabihf-gcc -g -O2 -marm -gdwarf-4",
        "m68k-linux-gnu-gcc -g -O2",
        "mips-linux-gnu-gcc -g -O2 -gdwarf-4",
        "mips64el-linux-gnuabi64-gcc -g -O2",
        "powerpc-linux-gnu-gcc -g -O2",
        "powerpc64-linux-gnu-gcc -g -O2",
        "powerpc64le-linux-gnu-gcc -g -O2",
        "riscv64-linux-gnu-gcc -g -O2",
        "s390x-linux-gnu-gcc -g -O2 -gdwarf64",
      })
  void functionsInsideFunctions(String command) throws Exception {
    compare(build(command, "nested.c", NESTED), false, command);
  }

  @ParameterizedTest
  @ValueSource(strings = {"-C debuginfo=2 -C opt-level=2", "-g", "-C debuginfo=1 -C opt-level=3"})
  void functionsOfRust(String flags) throws Exception {
    compare(build("rustc " + flags, "main.rs", RUST), false, flags);
  }

  /** Nothing describes the functions in the program itself: their rows are the best there is. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "g++ -g -O2 -gsplit-dwarf",
        "g++ -g -O2 -gsplit-dwarf -gdwarf-4",
        "clang++ -g -O2 -gsplit-dwarf",
        "clang++ -g -O2 -gsplit-dwarf -gdwarf-4",
        "clang++ -gline-tables-only -O2",
        "clang++ -gmlt -O2",
      })
  void functionsThatOnlyRowsKnow(String command) throws Exception {
    compare(build(command, "boxes.cc", SOURCE), true, command);
  }

  /** One file by itself, and two whose common descriptions stand in a third one. */
  @ParameterizedTest
  @ValueSource(strings = {"g++ -g -O2 -gdwarf-5", "g++ -g -O2 -gdwarf-4"})
  void functionsOfFilesThatDwzPacked(String command) throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed("dwz"), "skipped: no dwz");
    Path program = build(command, "boxes.cc", SOURCE);
    Path one = Files.copy(program, folder.resolve("one"));
    Path other = Files.copy(program, folder.resolve("other"));
    dwz(program.toString());
    compare(program, false, command);
    dwz("-m", folder.resolve("common").toString(), one.toString(), other.toString());
    compare(one, true, command + ", with another file");
  }

  private static void dwz(String... arguments) throws IOException, InterruptedException {
    List<String> line = new ArrayList<>(List.of("dwz"));
    line.addAll(List.of(arguments));
    assertThat(new ProcessBuilder(line).inheritIO().start().waitFor()).as("dwz").isZero();
  }

  private Path build(String command, String name, String source)
      throws IOException, InterruptedException {
    List<String> words = List.of(command.split(" "));
    Assumptions.assumeTrue(
        GuestCompiler.installed(words.getFirst()), "skipped: no " + words.getFirst());
    if (command.contains("-fuse-ld=lld")) {
      Assumptions.assumeTrue(GuestCompiler.installed("ld.lld"), "skipped: no ld.lld");
    }
    Files.writeString(folder.resolve("boxes.h"), HEADER);
    Path file = Files.writeString(folder.resolve(name), source);
    List<String> flags = new ArrayList<>(words.subList(1, words.size()));
    if (flags.contains("-gsplit-dwarf")) { // the descriptions are put beside the object
      Path object = folder.resolve("program.o");
      flags.addAll(List.of("-c", file.toString()));
      GuestCompiler.compileWith(words.getFirst(), object, flags.toArray(String[]::new));
      flags.removeLast();
      flags.set(flags.size() - 1, object.toString());
    } else {
      flags.add(file.toString());
    }
    return GuestCompiler.compileWith(
        words.getFirst(), folder.resolve("program"), flags.toArray(String[]::new));
  }

  private SourceLines compare(Path program, boolean rowsOnly, String what) throws IOException {
    ElfFile elf = ElfFile.parse(program);
    SourceLines lines = SourceLines.of(elf);
    assertThat(lines.trouble()).as(what).isEmpty();
    Map<String, String> found = new TreeMap<>();
    Map<String, String> right = new TreeMap<>();
    for (int i = 0; i < elf.functions().size(); i++) {
      String name = elf.functions().get(i).name();
      Matcher named = NAMED.matcher(name);
      boolean asked = false;
      String line = "";
      while (named.find()) {
        asked = !rowsOnly || named.group(1).equals("at");
        line = named.group(2);
      }
      if (asked) {
        right.put(name, line);
        found.put(name, Integer.toString(lines.line(i)));
        if (lines.line(i) > 0) {
          Path file = folder.resolve(last(lines.files().get(lines.file(i))));
          String text = Files.readAllLines(file, StandardCharsets.UTF_8).get(lines.line(i) - 1);
          assertThat(text).as("%s %s", what, name).containsPattern("(at|far)" + line + "_");
        }
      }
    }
    assertThat(found).as(what).isEqualTo(right).hasSizeGreaterThan(3);
    return lines;
  }

  private static String last(String path) {
    return path.substring(path.lastIndexOf('/') + 1);
  }
}
