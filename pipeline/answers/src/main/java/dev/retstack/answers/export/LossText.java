package dev.retstack.answers.export;

import dev.retstack.graph.check.Anomaly;
import dev.retstack.graph.check.AnomalyKind;
import dev.retstack.graph.check.AnomalyMessage;
import dev.retstack.graph.losses.Loss;
import dev.retstack.graph.report.CallNode;
import dev.retstack.graph.symbol.SymbolTable;

/** What a loss hid, in words. */
public final class LossText {
  private LossText() {}

  /** Kind of the anomaly that reports a loss. */
  public static AnomalyKind kind(Loss loss) {
    return loss.kind() == Loss.Kind.DROPPED ? AnomalyKind.LOST : AnomalyKind.SEQUENCE_GAP;
  }

  /** Sentence of the anomaly that reports a loss. */
  static String message(Loss loss) {
    return AnomalyMessage.of(
        loss.kind() == Loss.Kind.DROPPED
            ? Anomaly.ofRecords(AnomalyKind.LOST, loss.until(), loss.records())
            : Anomaly.ofGap(loss.until(), loss.fromChunk(), loss.toChunk(), loss.records()),
        SymbolTable.EMPTY);
  }

  /** {@code LOST: 6 records ...}. */
  public static String of(CallNode node) {
    return kind(node.loss()) + ": " + message(node.loss());
  }

  /**
   * How long a call lasted that a loss cut off: {@code , lasted 10 or more}, {@code , lasted 10 to
   * 40}.
   */
  static String bounds(CallNode call) {
    long atLeast = call.exit() - call.enter();
    return call.deadBy() < 0
        ? ", lasted " + atLeast + " or more"
        : ", lasted " + atLeast + " to " + (call.deadBy() - call.enter());
  }

  /** Where records are missing: {@code chunks 3 to 4} or {@code in chunk 7, before record 812}. */
  public static String place(Loss loss) {
    if (loss.kind() == Loss.Kind.DROPPED) {
      return "before record %d, chunk %d".formatted(loss.record(), loss.fromChunk());
    }
    return "records %d to %d, chunks %d to %d"
        .formatted(
            loss.record(),
            Math.max(loss.record(), loss.record() + loss.records() - 1),
            loss.fromChunk(),
            Math.max(loss.fromChunk(), loss.toChunk() - 1));
  }
}
