package dev.retstack.fleet.settings;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.Optional;
import java.util.OptionalInt;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

final class TraceSettingsTest {
  private static PatternSubject function(String name) {
    return new PatternSubject(name, 0x1000, ".text", "fw.elf");
  }

  @Test
  void standardTracesEveryCall() {
    TraceSettings standard = TraceSettings.standard();

    assertThat(standard.on()).isTrue();
    assertThat(standard.tracer()).isEqualTo(Tracer.FUNCTION_GRAPH);
    assertThat(standard.selected().test(function("anything"))).isTrue();
    assertThat(standard.event(TraceEvent.SYSCALLS)).isEmpty();
  }

  @Test
  void notraceOverrulesFilter() {
    TraceSettings settings =
        TraceSettings.standard()
            .withFilters(FunctionPattern.parseAll("vfs_*,main"))
            .withNotraces(FunctionPattern.parseAll("vfs_w*"));

    assertThat(settings.selected().test(function("vfs_read"))).isTrue();
    assertThat(settings.selected().test(function("main"))).isTrue();
    assertThat(settings.selected().test(function("vfs_write"))).isFalse();
    assertThat(settings.selected().test(function("other"))).isFalse();
    assertThat(settings.withFilters(List.of()).selected().test(function("other"))).isTrue();
  }

  @Test
  void eachPartIsChangedAlone() {
    TraceSettings standard = TraceSettings.standard();
    List<FunctionPattern> some = FunctionPattern.parseAll("a");
    List<ValueRequest> values = List.of(ValueRequest.parseReturn("a"));
    List<TraceSettings> changed =
        List.of(
            standard.withOn(false),
            standard.withTracer(Tracer.FUNCTION),
            standard.withFilters(some),
            standard.withNotraces(some),
            standard.withGraphFunctions(some),
            standard.withGraphNotraces(some),
            standard.withMaxDepth(3),
            standard.withMinDuration(100),
            standard.withTriggers(List.of(Trigger.parse("a:traceoff"))),
            standard.withArguments(values),
            standard.withReturns(values),
            standard.withEvents(List.of(EventRequest.parse("syscalls"))),
            standard.withTasks(List.of(TaskPattern.parse("1"))),
            standard.withNotasks(List.of(TaskPattern.parse("1"))),
            standard.withFlightRecorder(64));

    assertThat(changed).doesNotHaveDuplicates().doesNotContain(standard);
    assertThat(changed).hasSize(TraceSettings.class.getRecordComponents().length);
    assertThat(standard.withMaxDepth(3).withMaxDepth(0)).isEqualTo(standard);
  }

  @Test
  void tasksAreMeantByIdOrByName() {
    TraceSettings settings =
        TraceSettings.standard()
            .withTasks(List.of(TaskPattern.parse("0x2000"), TaskPattern.parse("task_*")))
            .withNotasks(List.of(TaskPattern.parse("task_idle")));

    assertThat(settings.selectsTask(0x2000, "")).isTrue();
    assertThat(settings.selectsTask(0x3000, "task_shell")).isTrue();
    assertThat(settings.selectsTask(0x3000, "task_idle")).isFalse();
    assertThat(settings.selectsTask(0x3000, "")).isFalse();
    assertThat(TraceSettings.standard().selectsTask(7, "")).isTrue();
    assertThatThrownBy(() -> TaskPattern.parse("0x20zz"))
        .hasMessage("no task: '0x20zz'; say a number, 0x and hex digits, or a name");
  }

  @Test
  void numbersOutOfRangeAreRefused() {
    assertThatThrownBy(() -> TraceSettings.standard().withMaxDepth(-1))
        .hasMessage("maximum depth -1, minimum duration 0: 0 for none, or more");
    assertThatThrownBy(() -> TraceSettings.standard().withFlightRecorder(2_000_000))
        .hasMessage("flight recorder of 2000000 records: 0 for none, or up to 1048576");
  }

  @ParameterizedTest
  @CsvSource({
    "panic:traceoff, panic, TRACEOFF, '', ",
    "vfs_*:stacktrace:5, vfs_*, STACKTRACE, '', 5",
    "section:.text:traceon:1, section:.text, TRACEON, '', 1",
    "/a:b/:snapshot, /a:b/, SNAPSHOT, '', ",
    "main:enable_event:syscalls, main, ENABLE_EVENT, syscalls, ",
    "main:disable_event:syscalls:2, main, DISABLE_EVENT, syscalls, 2",
    "traceon:traceoff, traceon, TRACEOFF, '', ",
  })
  void triggers(String text, String pattern, Trigger.Action action, String event, Integer limit) {
    Trigger trigger = Trigger.parse(text);

    assertThat(trigger.pattern()).hasToString(pattern);
    assertThat(trigger.action()).isEqualTo(action);
    assertThat(trigger.event().map(TraceEvent::toString).orElse("")).isEqualTo(event);
    assertThat(trigger.limit())
        .isEqualTo(limit == null ? Trigger.UNLIMITED : OptionalInt.of(limit).orElseThrow());
    assertThat(trigger).hasToString(text);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "main",
        "main:fly",
        "main:traceoff:0",
        "main:traceoff:x",
        "main:traceoff:1:2",
        ":traceoff",
        "main:enable_event",
        "main:enable_event:smoke",
        "main:traceoff:-1",
        "main:traceoff:99999999999"
      })
  void whatIsNoTriggerIsRefused(String text) {
    assertThatThrownBy(() -> Trigger.parse(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageMatching(".+(; say|; write|; there are|: say|: a limit is) .+");
  }

  @ParameterizedTest
  @CsvSource({
    "'vfs_read@arg1', vfs_read, '[1]', AUTO",
    "'vfs_*@arg2,arg1/x', vfs_*, '[1, 2]', HEX",
    "'/a@b/@arg8/e', /a@b/, '[8]', ERRNO",
  })
  void arguments(String text, String pattern, String numbers, ValueRequest.Format format) {
    ValueRequest request = ValueRequest.parseArguments(text);

    assertThat(request.pattern()).hasToString(pattern);
    assertThat(request.numbers()).hasToString(numbers);
    assertThat(request.format()).isEqualTo(format);
    assertThat(ValueRequest.parseArguments(request.toString())).isEqualTo(request);
  }

  @ParameterizedTest
  @CsvSource({
    "vfs_read, vfs_read, AUTO",
    "vfs_read/d, vfs_read, SIGNED",
    "/a/, /a/, AUTO",
    "/a//u, /a/, UNSIGNED"
  })
  void returns(String text, String pattern, ValueRequest.Format format) {
    ValueRequest request = ValueRequest.parseReturn(text);

    assertThat(request.pattern()).hasToString(pattern);
    assertThat(request.numbers()).isEmpty();
    assertThat(request.format()).isEqualTo(format);
    assertThat(ValueRequest.parseReturn(request.toString())).isEqualTo(request);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {"a", "@arg1", "a@", "a@arg0", "a@arg9", "a@arg1,", "a@1", "a@arg1/q", "a@arg1/"})
  void whatIsNoArgumentIsRefused(String text) {
    assertThatThrownBy(() -> ValueRequest.parseArguments(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(text)
        .hasMessageContaining("; say ");
  }

  @Test
  void whatIsNoReturnIsRefused() {
    assertThatThrownBy(() -> ValueRequest.parseReturn("a/q"))
        .hasMessage(
            "no format: 'q' in 'a/q'; say d (signed), u (unsigned), x (hexadecimal) or e (error"
                + " name)");
  }

  @Test
  void events() {
    EventRequest some = EventRequest.parse("syscalls:read,open*");

    assertThat(some).hasToString("syscalls:read,open*");
    assertThat(some.matches("openat")).isTrue();
    assertThat(some.matches("write")).isFalse();
    assertThat(EventRequest.parse("syscalls").matches("write")).isTrue();
    assertThat(TraceSettings.standard().withEvents(List.of(some)).event(TraceEvent.SYSCALLS))
        .isEqualTo(Optional.of(some));
    assertThatThrownBy(() -> EventRequest.parse("irqs"))
        .hasMessage("no such event: 'irqs'; there are syscalls");
    assertThatThrownBy(() -> EventRequest.parse("syscalls:"))
        .hasMessage("empty name: say '*' for all");
  }

  @Test
  void tracersBearTheNamesOfFtrace() {
    assertThat(Tracer.parse("function_graph")).isEqualTo(Tracer.FUNCTION_GRAPH);
    assertThatThrownBy(() -> Tracer.parse("graph"))
        .hasMessage("no such tracer: 'graph'; there are nop, function, function_graph");
  }
}
