package dev.retstack.fleet.linux;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.BatchSink;
import dev.retstack.fleet.Fleet;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.CoreOptions.ProbeKind;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.progress.FleetListener;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.Chunk;
import dev.retstack.schema.record.RecordBatch;
import dev.retstack.schema.record.TaskEvent;
import dev.retstack.schema.record.TaskName;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The names that programs give their threads are in the records. */
class ThreadNamesTest {
  private static final String PROGRAM =
      """
      #define _GNU_SOURCE
      #include <pthread.h>
      #include <stdio.h>
      #include <sys/prctl.h>
      #include <unistd.h>
      #define APART __attribute__((noinline, noclone))
      static int rounds;
      static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
      APART void work(void) { __atomic_add_fetch(&rounds, 1, __ATOMIC_SEQ_CST); }
      APART void *names_itself(void *n) {
        for (int i = 0; i < 200; i++) work();
        prctl(PR_SET_NAME, (char *)n);
        for (int i = 0; i < 200; i++) work();
        return 0;
      }
      APART void *is_named(void *n) {
        pthread_mutex_lock(&gate);
        pthread_mutex_unlock(&gate);
        for (int i = 0; i < 300; i++) work();
        return n;
      }
      int main(void) {
        pthread_t t[4];
        char name[16];
        pthread_create(&t[0], 0, is_named, 0);
        prctl(PR_SET_NAME, "boss of all threads");
        pthread_create(&t[1], 0, is_named, 0);
        pthread_mutex_lock(&gate);
        pthread_create(&t[2], 0, is_named, 0);
        pthread_setname_np(t[2], "third");
        pthread_mutex_unlock(&gate);
        pthread_create(&t[3], 0, names_itself, "itself");
        for (int i = 0; i < 4; i++) pthread_join(t[i], 0);
        prctl(PR_GET_NAME, name);
        printf("%d %s", rounds, name);
      }
      """;

  private static final String DEADLOCK =
      """
      #include <pthread.h>
      #include <sys/prctl.h>
      static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
      __attribute__((noinline)) void *waits(void *n) {
        prctl(PR_SET_NAME, "lonely\\033[2J");
        pthread_mutex_lock(&one);
        return n;
      }
      int main(void) {
        pthread_t t;
        pthread_mutex_lock(&one);
        pthread_create(&t, 0, waits, 0);
        pthread_join(t, 0);
      }
      """;

  private static final String BOSS = "boss of all thr";

  @TempDir private Path folder;

  /** What readers of the stream know of names. */
  private static final class Names implements BatchSink {
    private final List<String> all = new ArrayList<>();
    private final Map<Long, String> live = new HashMap<>();
    private int keyframes;

    @Override
    public void batch(Chunk chunk, RecordBatch batch) {
      if (batch.keyframe() != null) {
        Map<Long, String> told = new HashMap<>();
        RecordBatch names = batch.keyframe().names();
        for (int i = 0; i < names.size(); i++) {
          told.put(names.selfPc[i], TaskName.of(names, i).text());
        }
        assertThat(told).as("chunk %d", chunk.getSequence()).isEqualTo(live);
        keyframes += told.size() > 1 ? 1 : 0;
      }
      for (int i = 0; i < batch.size(); i++) {
        if (batch.kind[i] == RecordBatch.TASK_NAME) {
          live.put(batch.selfPc[i], TaskName.of(batch, i).text());
          all.add(batch.selfPc[i] + " " + TaskName.of(batch, i).text());
        } else if (batch.kind[i] == RecordBatch.TASK && batch.fromPc[i] == TaskEvent.ENDED.code()) {
          live.remove(batch.selfPc[i]);
        }
      }
    }
  }

  @Test
  void namesAreRecordedAndInKeyframes() throws Exception {
    Path program = ThreadsTest.Form.X86_64.build(folder, PROGRAM);
    for (ProbeKind probe : new ProbeKind[] {ProbeKind.AUTO, ProbeKind.JAVA}) {
      for (long seed = 0; seed < 4; seed++) {
        Names names = new Names();
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        CoreOptions core =
            CoreOptions.of(
                    LinuxOptions.of("prog")
                        .withStreams(new ByteArrayInputStream(new byte[0]), out, out))
                .withProbe(probe)
                .withRecordsPerChunk(40)
                .withSchedule(new Schedule(200, seed));
        Fleet.run(
            List.of(new CoreSpec("core-0", LoadedImage.load(program), core)),
            FleetOptions.standard().withThreads(1),
            names,
            FleetListener.NONE);
        assertThat(out).hasToString("1300 " + BOSS);
        assertThat(names.all)
            .containsExactlyInAnyOrder(
                "0 " + BOSS,
                "1002 " + BOSS,
                "1003 " + BOSS,
                "1003 third",
                "1004 " + BOSS,
                "1004 itself");
        assertThat(names.keyframes).isPositive();
      }
    }
  }

  @Test
  void theEndOfACoreSaysTheNames() throws Exception {
    Path program = ThreadsTest.Form.X86_64_STATIC.build(folder, DEADLOCK);
    HostedRun run = HostedRun.of(program, LinuxOptions.of("prog"), "", ProbeKind.AUTO, 1_000_000);
    assertThat(run.result().ending().detail())
        .contains("deadlock: thread 1000 waits for the futex ")
        .contains("thread 1001 (lonely\\x1b[2J) waits for the futex one");
  }
}
