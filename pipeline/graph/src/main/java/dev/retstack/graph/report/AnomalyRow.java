package dev.retstack.graph.report;

import dev.retstack.graph.calls.CoreGraph;
import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.AnomalyMessage;
import dev.retstack.graph.check.Severity;
import dev.retstack.graph.input.CoreKey;
import dev.retstack.graph.input.ImageInfo;
import dev.retstack.graph.symbol.FunctionNames;
import java.util.List;

/**
 * An anomaly with its names.
 *
 * @param imageId build-id of the core's image
 * @param task guest thread of execution on the core, by its id; 0 for its first
 * @param instance which of the tasks of that id, from 1
 * @param taskName as {@link CoreGraph#taskName}
 * @param selfPc function concerned, 0 = none
 * @param function its symbol+offset, empty = none
 * @param expected see {@link Anomaly}
 * @param received see {@link Anomaly}
 * @param time when, in the core's unit
 * @param count frames, calls or records concerned
 * @param stack open calls at that moment as symbol+offset, innermost first
 * @param message one sentence with both values
 */
public record AnomalyRow(
    AnomalyKind kind,
    Severity severity,
    String session,
    String core,
    long task,
    int instance,
    String taskName,
    String imageId,
    String isa,
    long selfPc,
    String function,
    long expected,
    long received,
    long time,
    long count,
    List<String> stack,
    String message) {

  /** The row of an anomaly of a core. */
  public static AnomalyRow of(CoreGraph core, Anomaly a) {
    CoreKey key = core.key();
    ImageInfo image = core.image();
    FunctionNames symbols = image.names();
    return new AnomalyRow(
        a.kind(),
        a.kind().severity(),
        key.session(),
        key.core(),
        a.task(),
        a.instance(),
        core.taskName(a.task(), a.instance()),
        image.of(a.selfPc()).id(),
        image.isa(),
        image.in(a.selfPc()),
        a.selfPc() == 0 ? "" : symbols.symbolPlusOffset(a.selfPc()),
        a.isOfCode() ? image.in(a.expected()) : a.expected(),
        a.isOfCode() ? image.in(a.received()) : a.received(),
        a.time(),
        a.count(),
        a.stack().longStream().mapToObj(symbols::symbolPlusOffset).toList(),
        AnomalyMessage.of(a, symbols, core.progress().endDetail()));
  }

  /** The function that called the one concerned, as symbol+offset; empty = not known. */
  public String caller() {
    int at = stack.indexOf(function);
    return at < 0 || at + 1 == stack.size() ? "" : stack.get(at + 1);
  }
}
