package dev.retstack.answers.export;

import com.google.protobuf.CodedOutputStream;
import dev.retstack.graph.check.AnomalyMessage;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.SessionNames;
import dev.retstack.graph.report.AnomalyRow;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.report.CallTree;
import dev.retstack.graph.stacks.StackNode;
import dev.retstack.graph.symbol.SourceLine;
import dev.retstack.graph.tree.Ending;
import dev.retstack.graph.tree.TreeKind;
import dev.retstack.schema.wire.Visible;
import java.io.IOException;
import java.io.OutputStream;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * A Perfetto protobuf trace: one process per core, one track per task and one for the interrupts on
 * top of it. A call or system call is a slice, and so is the time for which a task was switched
 * out. An anomaly, a mark, a function whose return was not seen, and an end without a return (a
 * tail call, an exception, a longjmp) are instants. Times are the trace's own: one instruction
 * shows as a nanosecond. A call with an unknown end is a slice up to where it was last seen, and
 * says so: where a loss cut it off, or the trace ends.
 */
public final class PerfettoExport {
  private static final PerfettoSequence.Fields NOTHING = _ -> {};
  private static final int SLICE_BEGIN = PerfettoFields.TYPE_SLICE_BEGIN;

  /** Name of the time after a loss in which unknown calls ran. */
  static final String UNKNOWN = StackNode.UNKNOWN;

  /** Name of the time for which a task was switched out. */
  private static final String AWAY = "[switched out]";

  private static final int INSTANT = PerfettoFields.TYPE_INSTANT;

  private PerfettoExport() {}

  /**
   * Writes the whole trace.
   *
   * @param cut whether it was cut off: the names of its cores say so
   */
  public static void write(
      List<CallTree> trees, List<AnomalyRow> anomalies, boolean cut, OutputStream out)
      throws IOException {
    Map<CoreKey, Integer> pids = new HashMap<>();
    SessionNames names = SessionNames.of(trees.stream().map(CallTree::session));
    int number = 0;
    for (CallTree tree : trees) {
      number++;
      CoreKey core = new CoreKey(tree.session(), tree.core());
      boolean first = !pids.containsKey(core);
      int pid = pids.computeIfAbsent(core, _ -> pids.size() + 1);
      int tid = trees.size() + number; // no pid, so that no task is taken for the main thread
      PerfettoSequence sequence = new PerfettoSequence(number, out);
      // uuids: of cores 3 n, of tasks 3 n + 1, of interrupts 3 n + 2
      long process = 3L * pid;
      if (first) {
        sequence.track(track -> process(track, process, pid, tree, names.name(core), cut));
      }
      long thread = 3L * number + 1;
      sequence.track(track -> thread(track, process, thread, pid, tid, tree));
      Events events = new Events(sequence, process, thread, tree.taskName());
      TreeWalk.walk(tree, anomalies, Integer.MAX_VALUE, events);
    }
  }

  private static void process(
      CodedOutputStream track, long uuid, int pid, CallTree tree, String core, boolean cut)
      throws IOException {
    String name =
        "core %s (%s) %s%s"
            .formatted(core, tree.isa(), tree.image(), cut ? "; " + AnomalyMessage.CUT : "");
    track.writeUInt64(PerfettoFields.TRACK_UUID, uuid);
    PerfettoSequence.message(
        track,
        PerfettoFields.TRACK_PROCESS,
        process -> {
          process.writeInt32(PerfettoFields.PROCESS_PID, pid);
          process.writeString(PerfettoFields.PROCESS_NAME, Visible.line(name));
        });
  }

  private static void thread(
      CodedOutputStream track, long parent, long uuid, int pid, int tid, CallTree tree)
      throws IOException {
    String name = tree.taskName();
    track.writeUInt64(PerfettoFields.TRACK_UUID, uuid);
    track.writeString(PerfettoFields.TRACK_NAME, Visible.line(name));
    track.writeUInt64(PerfettoFields.TRACK_PARENT, parent);
    PerfettoSequence.message(
        track,
        PerfettoFields.TRACK_THREAD,
        thread -> {
          thread.writeInt32(PerfettoFields.THREAD_PID, pid);
          thread.writeInt32(PerfettoFields.THREAD_TID, tid);
          thread.writeString(PerfettoFields.THREAD_NAME, Visible.line(name));
        });
  }

  private static final class Events implements TreeWalk.Visitor {
    private final PerfettoSequence sequence;
    private final long process;
    private final long task;
    private final String taskName;

    /** Interrupts that are open around the next event, and whether their track was described. */
    private int interrupts;

    private boolean interruptsTold;

    /** Times of the last slices' beginnings and ends on the two tracks. */
    private long lastInTask;

    private long lastInInterrupt;

    /** When calls ended last without a return. */
    private long lastUnwound = -1;

    private boolean dropped;

    Events(PerfettoSequence sequence, long process, long task, String taskName) {
      this.sequence = sequence;
      this.process = process;
      this.task = task;
      this.taskName = taskName;
    }

    private long track() {
      return interrupts > 0 ? task + 1 : task;
    }

    /** Moves to the track of the task's interrupts, which is described once. */
    private void enterInterrupt() throws IOException {
      interrupts++;
      if (!interruptsTold) {
        interruptsTold = true;
        sequence.track(
            descriptor -> {
              descriptor.writeUInt64(PerfettoFields.TRACK_UUID, track());
              descriptor.writeString(
                  PerfettoFields.TRACK_NAME, Visible.line("interrupts of " + taskName));
              descriptor.writeUInt64(PerfettoFields.TRACK_PARENT, process);
            });
      }
    }

    @Override
    public void enter(CallNode call, int depth) throws IOException {
      switch (call.kind()) {
        case CALL ->
            event(call.enter(), SLICE_BEGIN, call.function(), call.source(), details(call));
        case SYSTEM_CALL ->
            event(call.enter(), SLICE_BEGIN, "sys_" + call.function(), details(call));
        case INTERRUPT -> {
          enterInterrupt();
          event(call.enter(), SLICE_BEGIN, call.function(), details(call));
        }
        case SWITCH -> event(call.enter(), SLICE_BEGIN, AWAY, annotation("next", call.function()));
        case LOSS -> {
          dropped = true;
          String name = LossText.kind(call.loss()).name();
          event(call.enter(), INSTANT, name, annotation("message", LossText.message(call.loss())));
          if (call.exit() > call.enter()) {
            event(call.enter(), SLICE_BEGIN, UNKNOWN, NOTHING);
          }
        }
        case FUNCTION, MARK ->
            event(call.enter(), INSTANT, call.function(), call.source(), details(call));
      }
    }

    @Override
    public void exit(CallNode call, int depth) throws IOException {
      boolean hole = call.kind() == TreeKind.LOSS && call.exit() > call.enter();
      boolean slice =
          switch (call.kind()) {
            case CALL, SYSTEM_CALL, INTERRUPT, SWITCH -> true;
            case LOSS -> hole;
            case FUNCTION, MARK -> false;
          };
      if (slice) {
        // one that is open or was cut off is known for as long as what stands in it
        long end = Math.max(call.exit(), interrupts > 0 ? lastInInterrupt : lastInTask);
        event(end, PerfettoFields.TYPE_SLICE_END, null, NOTHING);
        if (call.isCall()) {
          ended(call);
        }
      }
      interrupts -= call.kind() == TreeKind.INTERRUPT ? 1 : 0;
    }

    /** An exception or a longjmp is one instant, in its innermost call; so is a tail call. */
    private void ended(CallNode call) throws IOException {
      boolean unwound = call.ending() == Ending.UNWOUND;
      if (call.ending() == Ending.TAIL_CALLED || (unwound && call.exit() != lastUnwound)) {
        String name = GraphText.name(call.ending());
        event(call.exit(), INSTANT, name, annotation("function", call.function()));
      }
      lastUnwound = unwound ? call.exit() : lastUnwound;
    }

    @Override
    public void anomaly(AnomalyRow row, int depth) throws IOException {
      dropped |= TreeWalk.isLoss(row.kind());
      event(row.time(), INSTANT, row.kind().name(), annotation("message", row.message()));
    }

    private void event(long time, int type, String name, PerfettoSequence.Fields more)
        throws IOException {
      event(time, type, name, SourceLine.NONE, more);
    }

    private void event(
        long time, int type, String name, SourceLine source, PerfettoSequence.Fields more)
        throws IOException {
      sequence.event(time, type, track(), name, source, more, dropped);
      if (type != INSTANT) {
        lastInTask = interrupts > 0 ? lastInTask : time;
        lastInInterrupt = interrupts > 0 ? time : lastInInterrupt;
      }
      dropped = false;
    }

    /** How a call ended, where not by a return, and what was recorded with it. */
    private static PerfettoSequence.Fields details(CallNode call) {
      CallNode.Recorded more = call.recorded();
      Map<String, String> details = new LinkedHashMap<>();
      details.put("end", call.ending() == Ending.RETURNED ? "" : call.ending().name());
      boolean cut = call.isCall() && call.ending() == Ending.TRUNCATED;
      details.put("atLeast", cut ? String.valueOf(call.exit() - call.enter()) : "");
      details.put(
          "atMost", cut && call.deadBy() >= 0 ? String.valueOf(call.deadBy() - call.enter()) : "");
      details.put("arguments", ValueText.list(more.arguments(), more.wordBytes()));
      details.put(
          "returns",
          call.isCall()
              ? ValueText.list(more.results(), more.wordBytes())
              : ValueText.result(more.results(), more.wordBytes()));
      details.put("caller", more.caller());
      details.put("command", more.command() == 0 ? "" : String.valueOf(more.command()));
      details.put("stack", String.join(";", more.stack()));
      details.values().removeIf(String::isEmpty);
      return event -> {
        for (Map.Entry<String, String> detail : details.entrySet()) {
          annotation(detail.getKey(), detail.getValue()).writeTo(event);
        }
      };
    }

    private static PerfettoSequence.Fields annotation(String name, String value) {
      return event ->
          PerfettoSequence.message(
              event,
              PerfettoFields.EVENT_DEBUG_ANNOTATIONS,
              annotation -> {
                annotation.writeString(PerfettoFields.ANNOTATION_NAME, name);
                annotation.writeString(PerfettoFields.ANNOTATION_STRING, Visible.line(value));
              });
    }
  }
}
