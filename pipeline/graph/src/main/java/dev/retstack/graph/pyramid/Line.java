package dev.retstack.graph.pyramid;

import java.util.Comparator;

/**
 * A line of a core's timeline. A line shows one thing at a time: a task has one ret_stack, and one
 * more for each interrupt that is open on it, and a ret_stack has one frame at each depth. So a
 * track is a task, or an interrupt on top of one, and not the core: tasks take turns on a core, and
 * a call stays open while its task is away.
 *
 * @param kind what is on it
 * @param task id of the task; 0 where it is no line of a task
 * @param instance which of the tasks that had this id, from 1
 * @param interrupts how many interrupts are open on the task, this one included; 0 for its own
 *     calls
 * @param depth index of the frame in the ret_stack
 */
public record Line(Kind kind, long task, int instance, int interrupts, int depth) {
  /** What is on a line. The order is that of the numbers in a trace file. */
  public enum Kind {
    /** Where records of the core are missing; a loss counts as many as they are. */
    LOSSES,
    /** What was found of the core, as points in time. */
    ANOMALIES,
    /** Calls. */
    CALLS,
    /** Where an exception or a longjmp ended calls of the core, as points in time. */
    EVENTS,
    /** When a task was switched out: its calls are open, and it does not run. */
    AWAY
  }

  /** Depths of a track that have a line; calls that are deeper are only counted. */
  public static final int DEPTHS = 64;

  static final Line LOSSES = new Line(Kind.LOSSES, 0, 0, 0, 0);
  static final Line ANOMALIES = new Line(Kind.ANOMALIES, 0, 0, 0, 0);
  static final Line EVENTS = new Line(Kind.EVENTS, 0, 0, 0, 0);

  /** Whether it is one of those that a question asks for. */
  boolean isCounted() {
    return kind != Kind.EVENTS && kind != Kind.AWAY;
  }

  /** The line that says when its task was switched out. */
  public Line away() {
    return new Line(Kind.AWAY, task, instance, 0, 0);
  }

  /** Lines as they are shown: track by track, the outermost calls first. */
  public static final Comparator<Line> ORDER =
      Comparator.comparing(Line::kind)
          .thenComparing(Line::task, Long::compareUnsigned)
          .thenComparingInt(Line::instance)
          .thenComparingInt(Line::interrupts)
          .thenComparingInt(Line::depth);
}
