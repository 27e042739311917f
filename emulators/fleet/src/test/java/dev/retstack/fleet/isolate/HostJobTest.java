package dev.retstack.fleet.isolate;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.core.interrupt.InterruptTimer;
import dev.retstack.fleet.plan.CoreSpec;
import dev.retstack.fleet.plan.FleetOptions;
import dev.retstack.fleet.probe.task.TaskOptions;
import dev.retstack.fleet.settings.EventRequest;
import dev.retstack.fleet.settings.FunctionPattern;
import dev.retstack.fleet.settings.TaskPattern;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.fleet.settings.Trigger;
import dev.retstack.fleet.settings.ValueRequest;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.linux.LinuxOptions;
import dev.retstack.machine.linux.thread.Schedule;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFormatException;
import dev.retstack.machine.memory.Ram;
import dev.retstack.schema.chunk.Codecs;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

class HostJobTest {
  private static final InputStream IN = InputStream.nullInputStream();
  private static final OutputStream OUT = OutputStream.nullOutputStream();

  private static HostJob overTheWire(HostJob job) throws Exception {
    return Frame.json(Frame.Kind.JOB, job).read(HostJob.class);
  }

  private static final TraceSettings TRACE =
      new TraceSettings(
          false,
          Tracer.FUNCTION,
          FunctionPattern.parseAll("a* 0x10-0x20"),
          FunctionPattern.parseAll("/x|y/"),
          FunctionPattern.parseAll("section:.init*"),
          FunctionPattern.parseAll("image:f?.elf"),
          7,
          -1L >>> 1,
          List.of(Trigger.parse("f:traceoff:3")),
          List.of(ValueRequest.parseArguments("g@arg1,arg3/x")),
          List.of(ValueRequest.parseReturn("h/d")),
          List.of(EventRequest.parse("syscalls:open*,read")),
          List.of(TaskPattern.parse("0x2000"), TaskPattern.parse("task_*")),
          List.of(TaskPattern.parse("task_idle")),
          1000);

  @Test
  void everyOptionArrives() throws Exception {
    LoadedImage image = Zoo.images().getFirst();
    Map<String, String> environment = new LinkedHashMap<>();
    environment.put("Z", "1 \u00fc \"q\"");
    environment.put("A", "");
    LinuxOptions linux =
        new LinuxOptions(
            List.of("p", "--x=\u20ac", ""),
            environment,
            IN,
            OUT,
            OUT,
            -5,
            1 << 20,
            3 << 20,
            5 << 20,
            List.of(Path.of("/etc"), Path.of("relative/x")),
            List.of(Path.of("/var/w")),
            Optional.of(Path.of("/root-of-guest")));
    CoreOptions core =
        new CoreOptions(
            false,
            CoreOptions.Clock.HOST,
            CoreOptions.ProbeKind.JAVA,
            TRACE,
            77,
            true,
            true,
            88,
            99,
            OptionalLong.of(-4),
            List.of(new Ram(0x2000, 0x1000)),
            List.of(new InterruptTimer(900, "handler")),
            new TaskOptions("current", "", List.of("end"), List.of("handler")),
            new Schedule(321, 7),
            linux);
    FleetOptions fleet =
        new FleetOptions(
            "session",
            3,
            4_444,
            Duration.ofNanos(123_456_789),
            Codecs.standard(),
            5_555,
            Duration.ofMillis(7));
    CoreSpec spec = new CoreSpec("a", image, core, Map.of("rack", "7"));
    HostJob job =
        new HostJob("/x", image.elf().buildId(), fleet, List.of(HostJob.CorePart.of(spec)));
    HostJob arrived = overTheWire(job);
    HostJob.CorePart part = arrived.cores().getFirst();
    LinuxOptions withoutStreams = part.options().linux();
    assertThat(withoutStreams).isEqualTo(linux.withStreams(null, null, null));
    CoreOptions options = part.options().withLinux(withoutStreams.withStreams(IN, OUT, OUT));
    assertThat(new CoreSpec(part.name(), image, options, part.labels())).isEqualTo(spec);
    assertThat(arrived).isEqualTo(new HostJob("/x", job.buildId(), fleet, List.of(part)));
    assertThat(withoutStreams.environment().keySet()).containsExactly("Z", "A");
  }

  @Test
  void anImageThatChangedMeanwhileIsRefused() {
    Path file = Zoo.images().getFirst().elf().file().orElseThrow();
    HostJob job = new HostJob(file.toString(), "0123", null, List.of());
    assertThatThrownBy(job::load)
        .isInstanceOf(ElfFormatException.class)
        .hasMessageContaining("build-id")
        .hasMessageContaining("0123");
  }
}
