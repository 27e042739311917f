package dev.retstack.fleet.probe.site;

import dev.retstack.fleet.probe.task.TaskFilter;
import dev.retstack.fleet.probe.task.TaskFunctions;
import dev.retstack.fleet.settings.PatternSet;
import dev.retstack.fleet.settings.PatternSubject;
import dev.retstack.fleet.settings.TraceSettings;
import dev.retstack.fleet.settings.Tracer;
import dev.retstack.fleet.settings.Trigger;
import dev.retstack.fleet.settings.ValueRequest;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.LoadedImage;
import it.unimi.dsi.fastutil.longs.Long2IntOpenHashMap;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Predicate;

/** What the settings of a core say of each call site. The flags are those of the probe in C. */
public final class SiteRules {
  /** The entry is recorded, and nothing else. */
  static final int PLAIN = 0;

  /** The entry is not recorded. */
  public static final int MUTE = 1;

  /** The function is one of those below which all is recorded. */
  public static final int GRAPH = 2;

  /** Neither the function nor what is called below it leaves records. */
  public static final int HIDE = 4;

  /** Something is done when the function is entered. */
  public static final int TRIGGER = 8;

  /** The value returned is recorded with the exit. */
  public static final int RETURN = 16;

  /** Arguments are recorded with the entry. */
  static final int ARGUMENTS = 32;

  /** The function does something with tasks: whose it is, is to be asked. */
  public static final int TASK = 64;

  /** Most records of one entry with its arguments: a batch must hold them. */
  public static final int RECORDS_TOGETHER = 3;

  private static final int UNKNOWN = -1;

  private final SharedCode code;
  private final LoadedImage image;
  private final TraceSettings settings;
  private final Predicate<PatternSubject> selected;
  private final PatternSet graphFunctions;
  private final PatternSet graphNotraces;
  private final PatternSet triggers;
  private final PatternSet arguments;
  private final PatternSet returns;
  private final EventRules events;
  private final TaskFilter tasks;
  private final TaskFunctions functions;
  private final boolean uniform;
  private final boolean live;
  private final Long2IntOpenHashMap known = new Long2IntOpenHashMap();

  /** The rules for an image. */
  public SiteRules(LoadedImage image, TraceSettings settings, TaskFunctions functions) {
    this(new SharedCode(image), settings, functions);
  }

  /** The rules for an image with its shared objects. */
  public SiteRules(SharedCode code, TraceSettings settings, TaskFunctions functions) {
    this.code = code;
    this.image = code.program();
    this.functions = functions;
    this.settings = settings;
    selected = settings.selected();
    graphFunctions = new PatternSet(settings.graphFunctions());
    graphNotraces = new PatternSet(settings.graphNotraces());
    triggers = new PatternSet(settings.triggers().stream().map(Trigger::pattern).toList());
    arguments = new PatternSet(settings.arguments().stream().map(ValueRequest::pattern).toList());
    returns = new PatternSet(settings.returns().stream().map(ValueRequest::pattern).toList());
    this.events = new EventRules(settings);
    boolean byTask = !settings.tasks().isEmpty() || !settings.notasks().isEmpty();
    this.tasks = new TaskFilter(byTask ? image.elf().objects() : List.of(), settings);
    // where a function may switch recording on, the sites must be there
    live =
        settings.tracer() != Tracer.NOP
            && (settings.on()
                || settings.triggers().stream()
                    .anyMatch(t -> t.action() == Trigger.Action.TRACEON));
    uniform =
        settings.filters().isEmpty()
            && settings.notraces().isEmpty()
            && settings.graphFunctions().isEmpty()
            && settings.graphNotraces().isEmpty()
            && settings.triggers().isEmpty()
            && settings.arguments().isEmpty()
            && settings.returns().isEmpty()
            && functions.isEmpty();
    known.defaultReturnValue(UNKNOWN);
  }

  /** Other code stands in memory now. */
  public void codeChanged() {
    known.clear();
  }

  /** The settings that they are made from. */
  public TraceSettings settings() {
    return settings;
  }

  /** Which events beside calls are recorded. */
  public EventRules events() {
    return events;
  }

  /** Which tasks are left out. */
  public TaskFilter tasks() {
    return tasks;
  }

  /** True where a site is no entry point and is to be a nop: nothing is to be done there. */
  public boolean off(long selfPc) {
    return isOff(of(selfPc));
  }

  /** True where a site with these flags is off. */
  static boolean isOff(int flags) {
    return (flags & (MUTE | TRIGGER | TASK)) == MUTE;
  }

  /** The flags of the site at an address. */
  public int of(long selfPc) {
    if (uniform) {
      return live ? PLAIN : MUTE;
    }
    int flags = known.get(selfPc);
    if (flags == UNKNOWN) {
      flags = flags(subject(selfPc));
      known.put(selfPc, flags);
    }
    return flags;
  }

  private int flags(PatternSubject function) {
    int flags = live && selected.test(function) ? PLAIN : MUTE;
    if (flags == PLAIN && settings.tracer() == Tracer.FUNCTION_GRAPH) {
      flags |= graphFunctions.test(function) ? GRAPH : 0;
      flags |= graphNotraces.test(function) ? HIDE : 0;
      flags |= returns.test(function) ? RETURN : 0;
      flags |= arguments(function.site()).records() > 0 ? ARGUMENTS : 0;
    }
    return flags | (triggers.test(function) ? TRIGGER : 0) | task(function.site(), flags);
  }

  /**
   * Flag of a function that shows which task runs: it is watched also where it leaves no records.
   */
  private int task(long selfPc, int flags) {
    boolean noticed =
        switch (functions.role(selfPc)) {
          case NONE -> false;
          case SWITCHES, ENDS -> live;
          case HANDLES -> (flags & MUTE) == 0 && settings.tracer() == Tracer.FUNCTION_GRAPH;
        };
    return noticed ? TASK : 0;
  }

  /** The arguments that are recorded with an entry, by the flags of its site. */
  public ValueRange arguments(long selfPc, int flags) {
    return (flags & ARGUMENTS) == 0 ? ValueRange.NONE : arguments(selfPc);
  }

  /** The arguments that are recorded with an entry, from the first to the last asked for. */
  public ValueRange arguments(long selfPc) {
    if (settings.arguments().isEmpty()) {
      return ValueRange.NONE;
    }
    PatternSubject function = subject(selfPc);
    if (!arguments.test(function)) {
      return ValueRange.NONE;
    }
    int known = argumentsKnown(selfPc);
    List<ValueRequest> asked =
        settings.arguments().stream().filter(r -> r.pattern().matches(function)).toList();
    int[] numbers =
        asked.stream()
            .flatMapToInt(request -> request.numbers().stream().mapToInt(n -> n))
            .filter(number -> number <= known)
            .sorted()
            .toArray();
    return numbers.length == 0
        ? ValueRange.NONE
        : new ValueRange(numbers[0] - 1, numbers[numbers.length - 1], format(asked));
  }

  /** How the value is to be shown that a function returns. */
  public int returnFormat(long selfPc) {
    if (settings.returns().isEmpty()) {
      return ValueRequest.Format.AUTO.code();
    }
    PatternSubject function = subject(selfPc);
    return format(settings.returns().stream().filter(r -> r.pattern().matches(function)).toList());
  }

  /** The format of the first request that says one. */
  private static int format(List<ValueRequest> asked) {
    return asked.stream()
        .map(ValueRequest::format)
        .filter(format -> format != ValueRequest.Format.AUTO)
        .findFirst()
        .orElse(ValueRequest.Format.AUTO)
        .code();
  }

  /**
   * What of the settings cannot be done, a sentence each.
   *
   * @param recordsPerChunk capacity of a batch
   */
  public List<String> refused(int recordsPerChunk) {
    List<String> refused = new ArrayList<>();
    boolean values = !settings.arguments().isEmpty() || !settings.returns().isEmpty();
    if (values && recordsPerChunk < RECORDS_TOGETHER) {
      refused.add(
          "arguments and return values need chunks of %d records: these hold %d"
              .formatted(RECORDS_TOGETHER, recordsPerChunk));
    }
    for (ActiveConvention convention : image.conventions()) {
      int known = convention.card().arguments().size();
      settings.arguments().stream()
          .filter(request -> request.numbers().getLast() > known)
          .map(
              request ->
                  "arguments %s: functions of convention %s (%s) show %d at their entry; compile with -fpatchable-function-entry or ask for others"
                      .formatted(request, convention.card(), image.isa(), known))
          .forEach(refused::add);
    }
    return refused;
  }

  /** Number of arguments that can be read at a site. */
  private int argumentsKnown(long selfPc) {
    SharedCode.Part part = code.at(selfPc);
    return part.image().conventions().stream()
        .filter(convention -> convention.callSites().contains(selfPc - part.bias()))
        .findFirst()
        .map(convention -> convention.card())
        .or(() -> code.libraryCall(selfPc).flatMap(function -> code.libraryCallCard()))
        .map(card -> card.arguments().size())
        .orElse(0);
  }

  /** The site at an address, as patterns see it. */
  public PatternSubject subject(long selfPc) {
    SharedCode.Part part = code.at(selfPc);
    long site = selfPc - part.bias();
    PatternSubject subject = PatternSubject.of(part.image().elf(), site, site).at(selfPc);
    return code.libraryCall(selfPc).map(f -> subject.named(f.name())).orElse(subject);
  }
}
