package dev.retstack.cli.operator;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

/**
 * The command line of a systemd unit as systemd runs it, where systemd is not the first process: as
 * another user, without rights, in a view of the machine that is read-only and has no homes. Needs
 * root.
 */
final class UnitProcess implements AutoCloseable {
  private static final String USER = "10042";
  private static final int PATIENCE_SECONDS = 120;

  /**
   * Arguments: an installation's --destdir, an empty folder, the JDK, the unit's credentials, the
   * command.
   */
  private static final String PROTECTED =
      """
      set -eu
      installed=$1 view=$2 jdk=$3 credentials=$4
      shift 4
      mount -t tmpfs -o mode=755 tmpfs "$view"
      bind() { mkdir -p "$view$1"; mount --bind "$1" "$view$1"; mount -o remount,bind,ro "$view$1"; }
      for part in /usr /sys /bin /sbin /lib /lib32 /lib64; do
        if [ -L "$part" ]; then cp -P "$part" "$view"; elif [ -d "$part" ]; then bind "$part"; fi
      done
      mkdir -p "$view/proc" "$view/dev" "$view/home" "$view/root"
      mount --rbind /proc "$view/proc"
      mount --rbind /dev "$view/dev"
      cp -r /etc "$view"
      cp -r "$installed/etc/." "$view/etc"
      case $jdk in /usr/*) ;; *) bind "$jdk" ;; esac
      mkdir -p "$view/opt/retstack"
      mount --bind "$installed/opt/retstack" "$view/opt/retstack"
      mount -o remount,bind,ro "$view/opt/retstack"
      mkdir -p "$view/tmp" "$view/var/lib/retstack" "$view/run/credentials"
      mount -t tmpfs -o mode=1777 tmpfs "$view/tmp"
      mount -t tmpfs -o mode=755,uid=@user@ tmpfs "$view/var/lib/retstack"
      for credential in $credentials; do
        install -o @user@ -m 400 "$view${credential#*:}" "$view/run/credentials/${credential%%:*}"
      done
      mount -o remount,ro "$view"
      exec chroot "$view" setpriv --reuid=@user@ --regid=@user@ --clear-groups --no-new-privs \
        --inh-caps=-all --bounding-set=-all env --ignore-environment --chdir=/var/lib/retstack \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin HOME=/var/lib/retstack USER=retstack \
        CREDENTIALS_DIRECTORY=/run/credentials "$@"
      """
          .replace("@user@", USER);

  private final Process process;
  private final LinkedBlockingQueue<String> lines = new LinkedBlockingQueue<>();
  private final List<String> said = new ArrayList<>();
  private final Thread reader;

  private UnitProcess(Process process) {
    this.process = process;
    this.reader = Thread.ofVirtual().start(this::read);
  }

  /**
   * Starts an instance of a unit that {@code install.sh --destdir installed --systemd} laid out.
   *
   * @param view an empty folder
   */
  static UnitProcess start(Path installed, Path view, String unit, String instance)
      throws IOException {
    Path file = installed.resolve("etc/systemd/system/" + unit + "@.service");
    Path environment = installed.resolve(values(file, "EnvironmentFile").getFirst().substring(1));
    List<String> command =
        new ArrayList<>(List.of("unshare", "--mount", "sh", "-c", PROTECTED, "sh"));
    command.add(installed.toString());
    command.add(Files.createDirectories(view).toString());
    command.add(Path.of(System.getProperty("java.home")).toRealPath().toString());
    command.add(String.join(" ", values(file, "LoadCredential")));
    Files.readAllLines(environment).stream()
        .filter(line -> line.matches("[A-Z_]+=.*"))
        .forEach(command::add);
    String start = values(file, "ExecStart").getFirst().replace("%i", instance);
    command.addAll(
        Arrays.asList(start.replace("${CREDENTIALS_DIRECTORY}", "/run/credentials").split(" ")));
    return new UnitProcess(new ProcessBuilder(command).redirectErrorStream(true).start());
  }

  /** All values of a key of a unit, in order. */
  static List<String> values(Path unit, String key) throws IOException {
    return Files.readAllLines(unit).stream()
        .filter(line -> line.startsWith(key + "="))
        .map(line -> line.substring(key.length() + 1))
        .collect(Collectors.toList());
  }

  private void read() {
    try (BufferedReader out =
        new BufferedReader(new InputStreamReader(process.getInputStream(), UTF_8))) {
      out.lines().forEach(lines::add);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Waits for a line with these words, and returns it. */
  String awaitLine(String words) throws InterruptedException {
    while (true) {
      String line = lines.poll(PATIENCE_SECONDS, TimeUnit.SECONDS);
      if (line == null) {
        throw new AssertionError("no \"" + words + "\" in " + said);
      }
      said.add(line);
      if (line.contains(words)) {
        return line;
      }
    }
  }

  /** Ends it as {@code systemctl stop} does. */
  void terminate() {
    process.destroy();
  }

  /** Its exit code as a shell sees it; waits for it. */
  int exitCode() throws InterruptedException {
    if (!process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS)) {
      throw new AssertionError("runs still: " + said + lines);
    }
    reader.join();
    return process.exitValue();
  }

  @Override
  public void close() {
    process.destroyForcibly();
  }
}
