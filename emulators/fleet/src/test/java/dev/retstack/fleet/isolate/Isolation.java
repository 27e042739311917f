package dev.retstack.fleet.isolate;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.progress.FleetProgress;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.loader.LoadedImage;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;

/** What tests of isolated fleets need: a listener, signals, programs of the zoo. */
final class Isolation {
  private Isolation() {}

  static final class Told implements IsolateListener {
    final Map<String, Long> pids = new ConcurrentHashMap<>();
    final List<IsolateListener.ProcessDeath> deaths = new CopyOnWriteArrayList<>();
    volatile FleetProgress progress;

    @Override
    public void processStarted(long pid, String image) {
      pids.put(image, pid);
    }

    @Override
    public void processDied(IsolateListener.ProcessDeath death) {
      deaths.add(death);
    }

    @Override
    public void progress(FleetProgress now) {
      progress = now;
    }
  }

  static CoreOptions program(String... arguments) {
    List<String> argv = new ArrayList<>(List.of("zoo"));
    argv.addAll(List.of(arguments));
    return CoreOptions.of(LinuxOptions.of("zoo").withArguments(argv)).withRecordsPerChunk(1_000);
  }

  static LoadedImage zoo(int number) {
    return Zoo.images().get(number);
  }

  static void signal(String name, long pid) {
    try {
      assertThat(new ProcessBuilder("sh", "-c", "kill -" + name + " " + pid).start().waitFor())
          .isZero();
    } catch (IOException | InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
