package dev.retstack.fleet.linux;

import java.io.IOException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Programs of others as their sources are: how each is compiled, by one command, and what it is
 * told to do. Words of a recipe that are no options are patterns of files.
 */
enum ForeignSource {
  BZIP2(
      List.of(
          "bzip2-1*/{bzip2,blocksort,huffman,crctable,randtable,compress,decompress,bzlib}.c",
          "-D_FILE_OFFSET_BITS=64"),
      List.of("-kc", "text"),
      List.of("-k", "-1", "-v", "text"),
      List.of("-t", "-v", "text.bz2", "nothing.bz2"),
      List.of("-dc", "text.bz2")),
  MINIGZIP(
      List.of("zlib-1*/*.c", "zlib-1*/test/minigzip.c", "-Izlib-1*", "-DHAVE_UNISTD_H=1"),
      List.of("-9", "text"),
      List.of("-d", "text.gz"),
      List.of("-c", "text"),
      List.of("-d", "nothing.gz")),
  /**
   * Its hash has a seed of addresses and of the time, unless it is compiled in, and it caches
   * strings by their addresses.
   */
  LUA(
      List.of(
          "lua5.4-*/src/l[!u]*.c",
          "lua5.4-*/src/{lua,lundump,lutf8lib}.c",
          "-DLUA_USE_POSIX",
          "-Dluai_makeseed(L)=7u",
          "-DSTRCACHE_N=1",
          "-DSTRCACHE_M=2",
          "-lm"),
      List.of("script.lua", "word"),
      List.of("-e", "error({code = 2})"),
      List.of("-e", "setmetatable({}, {__gc = function() print('gone') end}) error('no', 0)"),
      List.of("-e", "print((\"x\"):rep(100, ',')) os.exit(3)")),
  SQLITE(
      List.of(
          "sqlite3-*/{sqlite3,shell}.c",
          "-O1",
          "-DSQLITE_THREADSAFE=1",
          "-DSQLITE_OMIT_LOAD_EXTENSION",
          "-lm"),
      List.of("-init", "/dev/null", "data.db", ".read script.sql"),
      List.of(
          "-init",
          "/dev/null",
          "data.db",
          "select count(*), sum(a) from t; select * from nowhere")),
  PIGZ(
      List.of("pigz-*/*.c", "zlib-1*/*.c", "-Izlib-1*", "-DNOZOPFLI", "-lm"),
      List.of("-n", "-k", "-p", "1", "text"),
      List.of("-n", "-c", "-p", "2", "-b", "512", "text"),
      List.of("-n", "-c", "-p", "3", "-b", "32", "text"),
      List.of("-d", "-c", "-p", "1", "text.gz"),
      List.of("-t", "nothing.gz")),
  PBZIP2(
      List.of(
          "pbzip2-*/*.cpp",
          "bzip2-1*/{blocksort,huffman,crctable,randtable,compress,decompress,bzlib}.c",
          "-Ibzip2-1*",
          "-D_FILE_OFFSET_BITS=64"),
      List.of("-k", "-p2", "-b1", "text"),
      List.of("-d", "-c", "-p2", "text.bz2"),
      List.of("-t", "-p2", "nothing.bz2")),
  JQ(
      List.of(
          "jq-1*/src/{builtin,bytecode,compile,execute,jq_test,jv,jv_alloc,jv_aux,jv_dtoa}.c",
          "jq-1*/src/{jv_file,jv_parse,jv_print,jv_unicode,lexer,linker,locfile,main,parser,util}.c",
          "-Ijq-1*",
          "-Ijq-1*/src",
          "-includejq-1*/src/ieee.h",
          "-D_GNU_SOURCE",
          "-DHAVE_MEMMEM",
          "-DHAVE_ISATTY",
          "-DHAVE_FLOOR",
          "-DHAVE_SQRT",
          "-DHAVE_POW",
          "-DHAVE_LOG",
          "-lm"),
      List.of("-c", "[.[] | {n: .name, l: (.list | add)}] | sort_by(.l)", "data.json"),
      List.of(".[] |", "data.json"),
      List.of(
          "-e",
          "(.[] | .name | ascii_upcase, (explode | implode), @base64), try error(\"no\") catch .,"
              + " .[0].missing",
          "data.json")),
  BUSYBOX(
      List.of(
          "@busybox-1*/files",
          "-Ibusybox-1*/include",
          "-Ibusybox-1*/libbb",
          "-includebusybox-1*/include/autoconf.h",
          "-std=gnu99",
          "-funsigned-char",
          "-D_GNU_SOURCE",
          "-D_FILE_OFFSET_BITS=64",
          "-DNDEBUG",
          "-lm"),
      List.of("sort", "-n", "-k", "4", "text"),
      List.of("sort", "--nonsense", "text"),
      List.of("sed", "-n", "s/words/W/;/ine 12/p;$=", "text"),
      List.of(
          "awk",
          "{ n[$4 % 7] += $2 } END { for (i in n) printf \"%s %d %.9g\\n\", i, n[i], sqrt(n[i]) }",
          "text"),
      List.of("grep", "-n", "-E", "ine 1[0-9]+ of (7|8).* words$", "text"),
      List.of("diff", "script.lua", "script.sql"),
      List.of("cut", "-d", " ", "-f", "2,4", "text"),
      List.of("xxd", "script.lua"),
      List.of("sha256sum", "text", "nothing"),
      List.of("gzip", "-k", "text"),
      List.of("gunzip", "-c", "text.gz"),
      List.of("bzip2", "-k", "text"),
      List.of("bunzip2", "-c", "text.bz2"),
      List.of("unxz", "-c", "text"),
      List.of("sh", "script.sh", "word"));

  /** A word that names files, and the option that it begins with, or @: what is in the file. */
  private static final Pattern FILES = Pattern.compile("(-I|-include|@|(?!-))(.+)");

  /** Locks of pigz, and a wait of pbzip2 that ends after a while and is begun again. */
  private static final Pattern WAITS =
      Pattern.compile("(new_lock|free_lock|possess|release|twist)_ .*|_Z20safe_cond_timed_wait.*");

  private final List<String> recipe;
  private final List<List<String>> lines = new ArrayList<>();

  @SafeVarargs
  ForeignSource(List<String> recipe, List<String>... lines) {
    this.recipe = recipe;
    for (List<String> line : lines) {
      this.lines.add(line);
    }
  }

  /**
   * What the program is called with, in turn. Under qemu-s390x 7.2, awk of busybox finds none of
   * its rules.
   */
  List<List<String>> lines(SignalForm form) {
    boolean awkIsWrong = form == SignalForm.S390X || form == SignalForm.S390X_STATIC;
    return lines.stream().filter(line -> !(awkIsWrong && line.contains("awk"))).toList();
  }

  /** True of functions that are called less or more often as the threads of a line take turns. */
  boolean dependsOnTurns(List<String> line, String function) {
    boolean threads = this == PBZIP2 || (this == PIGZ && line.contains("3"));
    return threads && WAITS.matcher(function).matches();
  }

  /** True where the compiler is that of C++. */
  boolean cplusplus() {
    return recipe.stream().anyMatch(word -> word.endsWith(".cpp"));
  }

  /** Words for the compiler; empty where a source is missing in the folder. */
  Optional<List<String>> words(Path sources) throws IOException {
    List<String> words = new ArrayList<>(List.of("-O2"));
    for (String word : recipe) {
      Matcher named = FILES.matcher(word);
      if (!named.matches()) {
        words.add(word);
        continue;
      }
      List<Path> found = matching(sources, named.group(2));
      if (found.isEmpty()) {
        return Optional.empty();
      }
      found.forEach(file -> words.add(named.group(1) + file));
    }
    return Optional.of(words);
  }

  private static List<Path> matching(Path sources, String pattern) throws IOException {
    PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + pattern);
    int depth = pattern.split("/", -1).length;
    try (Stream<Path> all = Files.walk(sources, depth)) {
      return all.filter(file -> matcher.matches(sources.relativize(file))).sorted().toList();
    }
  }
}
