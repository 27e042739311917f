package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Programs that make files and wait for them print the same and end the same way as on a machine or
 * under qemu-user; both probes record the same. What is not installed is skipped. {@code
 * -Dretstack.zoo=all} takes all forms, else one of each kind.
 */
class FilesTest {
  private static final long SLICE = 1_000_000;

  @TempDir private Path folder;

  private HostedRun run(Path program, ProbeKind probe, long seed, long slice) throws Exception {
    LinuxOptions linux = LinuxOptions.of("prog").withWritable(List.of(folder));
    CoreOptions core =
        CoreOptions.of(linux).withProbe(probe).withSchedule(new Schedule(10_000, seed));
    return HostedRun.of(program, core, "", slice);
  }

  private HostedRun likeElsewhere(SignalForm form, String source) throws Exception {
    Path program = form.build(folder, source);
    Set<String> before = names();
    HostedRun first = run(program, ProbeKind.AUTO, 0, SLICE);
    HostedRun inJava = run(program, ProbeKind.JAVA, 0, 7777);

    assertThat(first.result().unsupported()).isEmpty();
    assertThat(names()).isEqualTo(before);
    String printed = first.stdout() + "code " + first.result().ending().exitCode();
    assertThat(printed).as(first.result().ending().detail()).isEqualTo(form.elsewhere(program));
    assertThat(inJava.records()).isEqualTo(first.records());
    return first;
  }

  private Set<String> names() throws Exception {
    try (Stream<Path> files = Files.list(folder)) {
      return new TreeSet<>(files.map(file -> file.getFileName().toString()).toList());
    }
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#listing")
  void filesAreMadeChangedAndRemoved(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "files/files.c");

    assertThat(run.calls()).containsEntry("content", 3).containsEntry("folders", 1);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#listing")
  void linksAreMadeAndFollowed(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "files/links.c");

    assertThat(run.calls()).containsEntry("content", 8);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#kinds")
  void programsReadTimers(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "files/timers.c");

    assertThat(run.calls()).containsEntry("tick", 20);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#readingSignals")
  void programsReadSignals(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "files/signals.c");

    assertThat(run.calls()).containsEntry("hear", 14);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#kinds")
  void programsWaitByEpoll(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "files/epoll.c");

    assertThat(run.calls()).containsEntry("squared", 100).containsEntry("works", 4);
  }

  @ParameterizedTest
  @MethodSource("dev.retstack.fleet.linux.SignalForm#kinds")
  void threadsWaitForFiles(SignalForm form) throws Exception {
    HostedRun run = likeElsewhere(form, "files/waits.c");

    assertThat(run.calls()).containsEntry("doubled", 200).containsEntry("count", 4);
    for (long seed = 1; seed <= 3; seed++) {
      HostedRun other = run(folder.resolve("prog"), ProbeKind.AUTO, seed, SLICE);
      assertThat(other.stdout()).as("schedule seed %d", seed).isEqualTo(run.stdout());
      assertThat(other.calls()).as("schedule seed %d", seed).isEqualTo(run.calls());
    }
  }
}
