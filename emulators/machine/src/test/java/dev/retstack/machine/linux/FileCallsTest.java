package dev.retstack.machine.linux;

import static dev.retstack.machine.linux.Guest.NOWHERE;
import static dev.retstack.machine.linux.Guest.SCRATCH;
import static dev.retstack.machine.linux.Guest.SCRATCH_BYTES;
import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.system.Errno;
import dev.retstack.machine.linux.file.FileTable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class FileCallsTest {
  private static final long AT_FDCWD = -100;
  private static final long AT_EMPTY_PATH = 0x1000;

  @TempDir Path folder;

  @ParameterizedTest
  @ValueSource(strings = {"x86_64", "aarch64", "riscv64"})
  void outputReachesTheHost(String isa) {
    try (Guest guest = new Guest(isa)) {
      guest.string(SCRATCH, "hello, world");

      assertThat(guest.call("write", 1, SCRATCH, 5)).isEqualTo(5);
      assertThat(guest.call("write", 2, SCRATCH + 7, 5)).isEqualTo(5);
      assertThat(guest.call("write", 1, SCRATCH, 0)).isZero();

      assertThat(guest.output()).isEqualTo("hello");
      assertThat(guest.stderr.toString(UTF_8)).isEqualTo("world");
    }
  }

  @Test
  void badPointersAndDescriptorsAreErrors() {
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.call("write", 1, NOWHERE, 5)).isEqualTo(Errno.EFAULT.result());
      assertThat(guest.call("read", 0, NOWHERE, 5)).isEqualTo(Errno.EFAULT.result());
      assertThat(guest.call("write", 9, SCRATCH, 5)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call("write", -1, SCRATCH, 5)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call("write", 0, SCRATCH, 5)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call("read", 1, SCRATCH, 5)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call("write", 1, SCRATCH, -1)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("openat", AT_FDCWD, NOWHERE, 0)).isEqualTo(Errno.EFAULT.result());
      assertThat(guest.call("fstat", 1, NOWHERE)).isEqualTo(Errno.EFAULT.result());
      assertThat(guest.output()).isEmpty();
    }
  }

  @Test
  void writeThatRunsOutOfMemoryTellsHowFarItCame() {
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.call("write", 1, SCRATCH, SCRATCH_BYTES + 5)).isEqualTo(SCRATCH_BYTES);
      assertThat(guest.stdout.size()).isEqualTo(SCRATCH_BYTES);
    }
  }

  /** A link leads to its own folder or below; a second name is for what may be written. */
  @Test
  void noLinkLeadsOutOfTheAllowedFolders(@TempDir Path folder) throws IOException {
    Path in = Files.createDirectories(folder.resolve("in/sub")).getParent();
    Path read = Files.createDirectory(folder.resolve("read"));
    Files.writeString(in.resolve("data"), "content");
    Files.writeString(read.resolve("given"), "content");
    Files.createSymbolicLink(in.resolve("out"), Path.of("../read/given"));
    try (Guest guest =
        new Guest("x86_64", "", o -> o.withWritable(List.of(in)).withReadable(List.of(read)))) {
      guest.string(SCRATCH, "new");
      for (String target :
          List.of("/etc/passwd", "..", "../secret", "sub/../../secret", "sub/..", "" + in)) {
        guest.string(SCRATCH + 0x1000, target);
        assertThat(guest.call("symlink", SCRATCH + 0x1000, SCRATCH))
            .as(target)
            .isEqualTo(Errno.EPERM.result());
      }
      guest.string(SCRATCH + 0x1000, "data");
      for (String name : List.of("" + read.resolve("new"), "../new", "sub/../../new", "out/new")) {
        guest.string(SCRATCH + 0x2000, name);
        assertThat(guest.call("symlink", SCRATCH + 0x1000, SCRATCH + 0x2000)).as(name).isNegative();
        assertThat(guest.call("link", SCRATCH + 0x1000, SCRATCH + 0x2000)).as(name).isNegative();
      }
      guest.string(SCRATCH + 0x1000, "" + read.resolve("given"));
      assertThat(guest.call("link", SCRATCH + 0x1000, SCRATCH)).isEqualTo(Errno.EPERM.result());
      guest.string(SCRATCH + 0x1000, "out");
      assertThat(guest.call("link", SCRATCH + 0x1000, SCRATCH)).isEqualTo(Errno.EPERM.result());
      assertThat(guest.call("linkat", AT_FDCWD, SCRATCH + 0x1000, AT_FDCWD, SCRATCH, 0x400))
          .isEqualTo(Errno.EPERM.result());
      assertThat(Files.getAttribute(read.resolve("given"), "unix:nlink")).isEqualTo(1);
      try (var all = Files.walk(folder)) {
        assertThat(all.map(path -> folder.relativize(path).toString()))
            .containsExactlyInAnyOrder(
                "", "in", "in/sub", "in/data", "in/out", "read", "read/given");
      }
    }
  }

  @Test
  void vectorsAreWrittenAndReadInOrder() {
    try (Guest guest = new Guest("riscv64", "abcdefgh", UnaryOperator.identity())) {
      guest.string(SCRATCH, "onetwo");
      vector(guest, SCRATCH + 0x100, SCRATCH, 3, SCRATCH + 3, 3);
      assertThat(guest.call("writev", 1, SCRATCH + 0x100, 2)).isEqualTo(6);
      assertThat(guest.output()).isEqualTo("onetwo");

      vector(guest, SCRATCH + 0x100, SCRATCH + 0x200, 3, SCRATCH + 0x300, 9);
      assertThat(guest.call("readv", 0, SCRATCH + 0x100, 2)).isEqualTo(8);
      assertThat(guest.text(SCRATCH + 0x200, 3)).isEqualTo("abc");
      assertThat(guest.text(SCRATCH + 0x300, 5)).isEqualTo("defgh");

      vector(guest, SCRATCH + 0x100, SCRATCH, 3, NOWHERE, 3);
      assertThat(guest.call("writev", 1, SCRATCH + 0x100, 2)).isEqualTo(3);
      assertThat(guest.call("writev", 1, SCRATCH, 1025)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("writev", 1, NOWHERE, 1)).isEqualTo(Errno.EFAULT.result());
    }
  }

  @Test
  void inputEndsWithZero() {
    try (Guest guest = new Guest("aarch64", "line\n", UnaryOperator.identity())) {
      assertThat(guest.call("read", 0, SCRATCH, 100)).isEqualTo(5);
      assertThat(guest.text(SCRATCH, 5)).isEqualTo("line\n");
      assertThat(guest.call("read", 0, SCRATCH, 100)).isZero();
    }
  }

  @ParameterizedTest
  @CsvSource({"x86_64,144,24,16,56", "aarch64,128,16,20,56", "riscv64,128,16,20,56"})
  void statHasTheLayoutOfTheAbi(String isa, int bytes, int mode, int links, int blockSize) {
    try (Guest guest = new Guest(isa)) {
      guest.memory.write(SCRATCH, new byte[] {1, 1, 1, 1, 1, 1, 1, 1});
      guest.memory.writeLong(SCRATCH + bytes, -1L);
      guest.string(SCRATCH + 0x1000, "");

      assertThat(guest.call("newfstatat", 1, SCRATCH + 0x1000, SCRATCH, AT_EMPTY_PATH)).isZero();

      assertThat(guest.memory.readLong(SCRATCH)).isZero();
      assertThat(guest.memory.readInt(SCRATCH + mode)).isEqualTo(0010600);
      assertThat(guest.memory.readInt(SCRATCH + links)).isEqualTo(1);
      assertThat(guest.memory.readInt(SCRATCH + blockSize)).isEqualTo(4096);
      assertThat(guest.memory.readLong(SCRATCH + bytes)).isEqualTo(-1);
      assertThat(guest.call("fstat", 1, SCRATCH)).isZero();
    }
  }

  /** busybox copies so, and would read and write instead. */
  @ParameterizedTest
  @CsvSource({"x86_64,sendfile,8", "i386,sendfile,4", "i386,sendfile64,8", "s390x,sendfile,8"})
  void filesAreCopiedByTheKernel(String isa, String call, int offsetBytes) throws IOException {
    String text = "0123456789".repeat(20_000);
    Path from = Files.writeString(folder.resolve("from"), text);
    Path to = folder.resolve("to");
    try (Guest guest = new Guest(isa, "", o -> o.withWritable(List.of(folder)))) {
      assertThat(open(guest, from, 0)).isEqualTo(3);
      assertThat(open(guest, to, 0x41)).isEqualTo(4);

      assertThat(guest.call(call, 4, 3, 0, 15)).isEqualTo(15);
      assertThat(guest.call(call, 4, 3, 0, 1 << 24)).isEqualTo(text.length() - 15);
      assertThat(guest.call(call, 4, 3, 0, 1 << 24)).isZero();
      assertThat(to).hasContent(text);

      guest.memory.writeLong(SCRATCH, -1);
      writeOffset(guest, 199_996, offsetBytes);
      assertThat(guest.call(call, 1, 3, SCRATCH, 3)).isEqualTo(3);
      assertThat(guest.call(call, 1, 3, SCRATCH, 3)).isEqualTo(1);
      assertThat(guest.output()).isEqualTo("6789");
      assertThat(guest.call("lseek", 3, 0, 1)).isEqualTo(text.length());
      writeOffset(guest, -1, offsetBytes);
      assertThat(guest.call(call, 1, 3, SCRATCH, 3)).isEqualTo(Errno.EINVAL.result());

      assertThat(guest.call(call, 1, 0, 0, 3)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call(call, 3, 3, 0, 3)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call(call, 1, 4, 0, 3)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call(call, 1, 3, NOWHERE, 3)).isEqualTo(Errno.EFAULT.result());
      assertThat(guest.call(call, 1, 9, 0, 3)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.output()).isEqualTo("6789");
    }
  }

  private static void writeOffset(Guest guest, long offset, int bytes) {
    if (bytes == Long.BYTES) {
      guest.memory.writeLong(SCRATCH, offset);
    } else {
      guest.memory.writeInt(SCRATCH, (int) offset);
    }
  }

  @Test
  void standardStreamsAreNeitherTerminalsNorSeekable() {
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.call("ioctl", 1, 0x5401, SCRATCH)).isEqualTo(Errno.ENOTTY.result());
      assertThat(guest.call("ioctl", 7, 0x5401, SCRATCH)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call("lseek", 0, 0, 1)).isEqualTo(Errno.ESPIPE.result());
    }
  }

  /**
   * What the host has there may lead anywhere: nothing is made outside, nor where it only reads.
   */
  @Test
  void noFileIsMadeThroughALinkThatLeadsOut(@TempDir Path folder) throws IOException {
    Path in = Files.createDirectory(folder.resolve("in"));
    Path read = Files.createDirectory(folder.resolve("read"));
    Files.createSymbolicLink(in.resolve("up"), Path.of("../secret"));
    Files.createSymbolicLink(in.resolve("full"), folder.resolve("secret"));
    Files.createSymbolicLink(in.resolve("given"), read.resolve("new"));
    Files.createSymbolicLink(in.resolve("twice"), Path.of("up"));
    Files.createSymbolicLink(in.resolve("fine"), Path.of("../in/made"));
    Files.createSymbolicLink(in.resolve("a"), Path.of("b"));
    Files.createSymbolicLink(in.resolve("b"), Path.of("a"));
    try (Guest guest =
        new Guest("x86_64", "", o -> o.withWritable(List.of(in)).withReadable(List.of(read)))) {
      for (String name : List.of("up", "full", "twice")) {
        assertThat(open(guest, in.resolve(name), 0x41)).as(name).isEqualTo(Errno.ENOENT.result());
      }
      assertThat(open(guest, in.resolve("given"), 0x41)).isEqualTo(Errno.ENOENT.result());
      assertThat(open(guest, in.resolve("a"), 0x41)).isEqualTo(Errno.ELOOP.result());
      assertThat(open(guest, in.resolve("fine"), 0x41)).isEqualTo(3);
      assertThat(in.resolve("made")).exists();
      assertThat(folder.resolve("secret")).doesNotExist();
      assertThat(read).isEmptyDirectory();
    }
  }

  @Test
  void hostFilesAreOutOfReachUnlessAllowed() throws Exception {
    Path secret = Files.writeString(folder.resolve("secret"), "secret");
    Path open = Files.createDirectory(folder.resolve("open"));
    Path allowed = Files.writeString(open.resolve("data"), "0123456789");
    Files.createSymbolicLink(open.resolve("link"), secret);
    try (Guest guest = new Guest("x86_64", "", o -> o.withReadable(List.of(open)))) {
      assertThat(open(guest, secret, 0)).isEqualTo(Errno.ENOENT.result());
      assertThat(open(guest, open.resolve("link"), 0)).isEqualTo(Errno.ENOENT.result());
      assertThat(open(guest, open.resolve("../secret"), 0)).isEqualTo(Errno.ENOENT.result());
      assertThat(open(guest, open.resolve("none"), 0)).isEqualTo(Errno.ENOENT.result());
      assertThat(open(guest, open, 0)).isEqualTo(3);
      assertThat(guest.call("read", 3, SCRATCH, 100)).isEqualTo(Errno.EISDIR.result());
      guest.call("close", 3);
      assertThat(open(guest, allowed, 1)).isEqualTo(Errno.EACCES.result());

      assertThat(open(guest, allowed, 0)).isEqualTo(3);
      assertThat(guest.call("lseek", 3, -4, 2)).isEqualTo(6);
      assertThat(guest.call("read", 3, SCRATCH, 100)).isEqualTo(4);
      assertThat(guest.text(SCRATCH, 4)).isEqualTo("6789");
      assertThat(guest.call("lseek", 3, -1, 0)).isEqualTo(Errno.EINVAL.result());
      assertThat(guest.call("fstat", 3, SCRATCH)).isZero();
      assertThat(guest.memory.readLong(SCRATCH + 48)).isEqualTo(10);
      assertThat(guest.call("close", 3)).isZero();
      assertThat(guest.call("close", 3)).isEqualTo(Errno.EBADF.result());
    }
    try (Guest guest = new Guest("x86_64")) {
      assertThat(open(guest, allowed, 0)).isEqualTo(Errno.ENOENT.result());
    }
  }

  @Test
  void descriptorsAreTheLowestFreeAndEnd() {
    try (Guest guest = new Guest("x86_64")) {
      assertThat(guest.call("dup", 1)).isEqualTo(3);
      assertThat(guest.call("dup2", 2, 1)).isEqualTo(1);
      guest.string(SCRATCH, "x");
      guest.call("write", 1, SCRATCH, 1);
      guest.call("write", 3, SCRATCH, 1);
      assertThat(guest.stderr.toString(UTF_8)).isEqualTo("x");
      assertThat(guest.output()).isEqualTo("x");
      long last = 0;
      for (int i = 0; i < FileTable.DESCRIPTORS_MAX; i++) {
        last = guest.call("dup", 1);
      }
      assertThat(last).isEqualTo(Errno.EMFILE.result());
      assertThat(guest.call("dup2", 1, 1 << 20)).isEqualTo(Errno.EBADF.result());
      assertThat(guest.call("fcntl", 1, 3, 0)).isEqualTo(2);
      assertThat(guest.call("fcntl", 1, 999, 0)).isEqualTo(Errno.EINVAL.result());
    }
  }

  @Test
  void devicesAndLinksThatProgramsAskFor() {
    try (Guest guest = new Guest("x86_64")) {
      guest.string(SCRATCH, "/dev/null");
      assertThat(guest.call("open", SCRATCH, 2)).isEqualTo(3);
      assertThat(guest.call("write", 3, SCRATCH, 4)).isEqualTo(4);
      assertThat(guest.call("read", 3, SCRATCH, 4)).isZero();
      guest.string(SCRATCH, "/dev/stdout");
      assertThat(guest.call("open", SCRATCH, 1)).isEqualTo(4);
      guest.call("write", 4, SCRATCH + 5, 3);
      assertThat(guest.output()).isEqualTo("std");
      guest.string(SCRATCH, "/proc/self/exe");
      assertThat(guest.call("readlink", SCRATCH, SCRATCH + 0x100, 5)).isEqualTo(5);
      assertThat(guest.text(SCRATCH + 0x100, 5)).isEqualTo("/prog");
      assertThat(guest.call("access", SCRATCH, 0)).isEqualTo(Errno.ENOENT.result());
      guest.string(SCRATCH, "/etc/passwd");
      assertThat(guest.call("readlink", SCRATCH, SCRATCH + 0x100, 5))
          .isEqualTo(Errno.ENOENT.result());
      assertThat(guest.call("getcwd", SCRATCH, 10)).isEqualTo(2);
      assertThat(guest.call("getcwd", SCRATCH, 1)).isEqualTo(Errno.ERANGE.result());
    }
  }

  @Test
  void endlessNameIsRefused() {
    try (Guest guest = new Guest("x86_64")) {
      guest.memory.write(SCRATCH, "x".repeat(5000).getBytes(UTF_8));
      assertThat(guest.call("openat", AT_FDCWD, SCRATCH, 0)).isEqualTo(Errno.ENAMETOOLONG.result());
    }
  }

  /** Two streams, a second descriptor and a vector: one limit, and what fits is printed. */
  @Test
  void aProgramThatPrintsTooMuchIsStopped() {
    try (Guest guest = new Guest("x86_64", "", o -> o.withLimits(1 << 20, 1 << 20, 100))) {
      assertThat(guest.call("write", 1, SCRATCH, 60)).isEqualTo(60);
      assertThat(guest.call("dup", 2)).isEqualTo(3);
      assertThat(guest.call("write", 3, SCRATCH, 40)).isEqualTo(40);
      assertThat(guest.process.end()).isEmpty();
      vector(guest, SCRATCH, SCRATCH, 0, SCRATCH, 1);
      guest.call("writev", 1, SCRATCH, 2);
      assertThat(guest.process.end().orElseThrow().describe())
          .isEqualTo(
              "limit of 100 bytes of output: if it is meant to print more, raise --max-output");
      assertThat(guest.stdout.size()).isEqualTo(60);
      assertThat(guest.stderr.size()).isEqualTo(40);
    }
    try (Guest guest = new Guest("x86_64", "", o -> o.withLimits(1 << 20, 1 << 20, 100))) {
      guest.call("write", 1, SCRATCH, 1_000);
      assertThat(guest.stdout.size()).isEqualTo(100);
      assertThat(guest.process.end()).get().isInstanceOf(LinuxEnd.Stopped.class);
    }
  }

  @Test
  void hostThatFailsIsAnInputOutputError() {
    OutputStream full =
        new OutputStream() {
          @Override
          public void write(int b) throws IOException {
            throw new IOException("disk full");
          }
        };
    UnaryOperator<LinuxOptions> setting =
        o -> o.withStreams(InputStream.nullInputStream(), full, OutputStream.nullOutputStream());
    try (Guest guest = new Guest("x86_64", "", setting)) {
      assertThat(guest.call("write", 1, SCRATCH, 5)).isEqualTo(Errno.EIO.result());
    }
  }

  @Test
  void outputThatIsLostAtTheEndIsCounted() {
    OutputStream buffered =
        new OutputStream() {
          @Override
          public void write(int b) {}

          @Override
          public void flush() throws IOException {
            throw new IOException("disk full");
          }
        };
    UnaryOperator<LinuxOptions> setting =
        o ->
            o.withStreams(InputStream.nullInputStream(), buffered, OutputStream.nullOutputStream());
    try (Guest guest = new Guest("x86_64", "", setting)) {
      guest.call("exit_group", 0);
      assertThat(guest.process.end()).contains(new LinuxEnd.Exited(0));
      assertThat(guest.process.unsupported())
          .containsEntry("flush of output that the host did not take", 1L);
    }
  }

  @Test
  void filesThatWereAskedForInVainAreListed() throws Exception {
    Path there = Files.writeString(folder.resolve("there.so"), "");
    try (Guest guest = new Guest("x86_64", "", o -> o.withReadable(List.of(folder)))) {
      String[] names = {
        "/usr", "/a/there.so", "/etc/ld.so.preload", "/b/c\033[31m", "/b/e", "/f/e"
      };
      for (String name : names) {
        assertThat(open(guest, Path.of(name), 0)).isEqualTo(Errno.ENOENT.result());
      }
      assertThat(open(guest, there, 0)).isPositive();
      guest.string(SCRATCH, folder.resolve("none").toString());
      assertThat(guest.call("mkdir", SCRATCH, 0)).isEqualTo(Errno.ENOENT.result());
      assertThat(guest.call("rmdir", SCRATCH)).isEqualTo(Errno.ENOENT.result());

      assertThat(guest.process.lacks(false)).isEmpty();
      assertThat(open(guest, Path.of("/etc/passwd"), 0)).isEqualTo(Errno.ENOENT.result());
      assertThat(guest.process.lacks(false))
          .containsExactly(
              "asked in vain for /etc/passwd: it sees only files below --readable and --writable");
      assertThat(guest.process.lacks(true))
          .containsExactly(
              "asked in vain for /usr, /b/c\uFFFD[31m, /b/e, "
                  + folder.resolve("none")
                  + ", /etc/passwd: it sees only files below --readable and --writable");
    }
  }

  private static long open(Guest guest, Path file, int flags) {
    guest.string(SCRATCH, file.toString());
    return guest.call("openat", AT_FDCWD, SCRATCH, flags);
  }

  private static void vector(Guest guest, long at, long first, long n, long second, long m) {
    guest.memory.writeLong(at, first);
    guest.memory.writeLong(at + 8, n);
    guest.memory.writeLong(at + 16, second);
    guest.memory.writeLong(at + 24, m);
  }
}
