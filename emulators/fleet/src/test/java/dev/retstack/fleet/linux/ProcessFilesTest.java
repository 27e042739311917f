package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.testing.GuestCompiler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Programs and C libraries read of themselves what the kernel writes below {@code /proc}. */
class ProcessFilesTest {
  private static final String SOURCE =
      """
      #define _GNU_SOURCE
      #include <errno.h>
      #include <fcntl.h>
      #include <pthread.h>
      #include <stdio.h>
      #include <stdlib.h>
      #include <string.h>
      #include <sys/mman.h>
      #include <sys/resource.h>
      #include <sys/stat.h>
      #include <unistd.h>
      static int data = 1;
      static char line[1024];
      static void show(const char *file, const char *start) {
        FILE *f = fopen(file, "r");
        if (f == 0) { printf("no %s\\n", file); return; }
        while (fgets(line, sizeof line, f))
          if (strncmp(line, start, strlen(start)) == 0)
            for (char *c = line; *c; c++) putchar(*c == '\\t' ? ' ' : *c);
        fclose(f);
      }
      __attribute__((noinline)) static void where(const char *what, const void *p) {
        FILE *maps = fopen("/proc/self/maps", "r");
        if (maps == 0) { printf("no maps\\n"); return; }
        unsigned long last = 0;
        while (fgets(line, sizeof line, maps)) {
          unsigned long from, to, offset, inode;
          char perms[8], name[256] = "";
          int got = sscanf(line, "%lx-%lx %7s %lx 00:00 %lu %255s", &from, &to, perms, &offset,
                           &inode, name);
          if (got < 5 || from < last || from >= to) printf("bad line %s", line);
          last = to;
          if ((unsigned long)p >= from && (unsigned long)p < to)
            printf("%s %s %s %d\\n", what, perms, name, inode != 0);
        }
        fclose(maps);
      }
      int main(int argc, char **argv) {
        int local;
        void *heap = sbrk(4096);
        char *page = mmap(0, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        where("code", (void *)main);
        where("data", &data);
        where("heap", heap);
        where("stack", &local);
        where("anonymous", page);
        munmap(page, 4096);
        where("nothing", page);

        pthread_attr_t attributes;
        void *low = 0;
        size_t size = 0;
        int failed = pthread_getattr_np(pthread_self(), &attributes);
        if (!failed) pthread_attr_getstack(&attributes, &low, &size);
        printf("own stack %d %d\\n", failed, (char *)&local >= (char *)low
               && (char *)&local < (char *)low + size);

        char state[1024] = "";
        int fd = open("/proc/self/stat", O_RDONLY);
        ssize_t bytes = read(fd, state, sizeof state - 1);
        close(fd);
        int fields = 0;
        unsigned long start = 0;
        char *at = state;
        for (char *word = strtok(at, " \\n"); word; word = strtok(0, " \\n")) {
          if (++fields == 28) start = strtoul(word, 0, 10);
          if (fields <= 4) printf("%s ", word);
        }
        printf("%d %d\\n", fields, bytes > 0 && start > (unsigned long)&local
               && start < (unsigned long)&local + 65536);

        char magic[5] = "";
        struct stat s;
        fd = open("/proc/self/exe", O_RDONLY);
        read(fd, magic, 4);
        printf("exe %d %d %d %d\\n", memcmp(magic, "\\177ELF", 4), stat("/proc/self/exe", &s),
               lstat("/proc/self/exe", &s) || s.st_size < 1000,
               open("/proc/self/exe", O_RDWR) == -1);
        char online[8] = "";
        fd = open("/sys/devices/system/cpu/online", O_RDONLY);
        read(fd, online, sizeof online - 1);
        show("/proc/self/status", "Name:");
        show("/proc/self/status", "TracerPid:");
        show("/proc/self/status", "Threads:");
        show("/proc/sys/vm/overcommit_memory", "");
        long total = 0, pages = 0;
        fd = open("/proc/self/statm", O_RDONLY);
        memset(state, 0, sizeof state);
        read(fd, state, sizeof state - 1);
        pages = atol(state);
        FILE *memory = fopen("/proc/meminfo", "r");
        fscanf(memory, "MemTotal: %ld kB", &total);
        fclose(memory);
        printf("sizes %d\\n", pages > 10 && total > 4 * pages);
        fd = open("/proc/self/cmdline", O_RDONLY);
        printf("arguments %d", (int)read(fd, state, sizeof state));
        printf(" %s\\n", state);
        fd = open("/proc/self/environ", O_RDONLY);
        printf("environment %d\\n", (int)read(fd, state, sizeof state) >= 0);
        struct rlimit limit = {0, 0};
        getrlimit(RLIMIT_CORE, &limit);
        printf("limit %d", limit.rlim_max == RLIM_INFINITY);
        limit.rlim_cur = 5;
        limit.rlim_max = 7;
        printf(" %d", setrlimit(RLIMIT_CORE, &limit));
        getrlimit(RLIMIT_CORE, &limit);
        printf(" %d %d", (int)limit.rlim_cur, (int)limit.rlim_max);
        limit.rlim_max = 8;
        printf(" %d\\n", setrlimit(RLIMIT_CORE, &limit) == -1 && errno == EPERM);
        printf("processors %s %ld\\n", strtok(online, "\\n"), sysconf(_SC_NPROCESSORS_ONLN));
        return 0;
      }
      """;

  @TempDir private Path folder;

  @ParameterizedTest
  @CsvSource({
    "gcc, -static",
    "gcc, -pie",
    "aarch64-linux-gnu-gcc, -static",
    "aarch64-linux-gnu-gcc, -pie",
    "arm-linux-gnueabihf-gcc, -static",
    "s390x-linux-gnu-gcc, -pie"
  })
  void programsReadTheirOwnMapsStateAndFile(String compiler, String link) throws Exception {
    Assumptions.assumeTrue(GuestCompiler.installed(compiler), "skipped: no " + compiler);
    Path source = Files.writeString(folder.resolve("prog.c"), SOURCE);
    List<String> flags = new ArrayList<>(List.of("-O1", "-w", "-pg", "-pthread", link));
    flags.add(source.toString());
    Path program =
        GuestCompiler.compileWith(compiler, folder.resolve("prog"), flags.toArray(String[]::new));
    String first = null;
    for (long slice : new long[] {1_000_000, 97}) {
      HostedRun run = HostedRun.of(program, LinuxOptions.of("prog"), "", ProbeKind.AUTO, slice);
      assertThat(run.stdout())
          .isEqualTo(
              """
              code r-xp /prog 1
              data rw-p /prog 1
              heap rw-p [heap] 0
              stack rw-p [stack] 0
              anonymous r--p  0
              own stack 0 1
              1000 (prog) R 1 52 1
              exe 0 0 0 1
              Name: prog
              TracerPid: 0
              Threads: 1
              0
              sizes 1
              arguments 5 prog
              environment 1
              limit 1 0 5 7 1
              processors 0 1
              """);
      assertThat(run.result().ending().detail()).isEqualTo("exited with code 0");
      first = first == null ? run.stdout() : first;
      assertThat(run.stdout()).isEqualTo(first);
    }
  }
}
