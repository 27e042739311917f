package dev.retstack.graph.check;

/** How much a finding matters. */
public enum Severity {
  /** Normal behaviour of a program that a reader of the graph should know of. */
  INFO,
  /** Something is missing or cannot be decided. */
  WARNING,
  /** Wrong code, a corrupt stream, or data that is gone. */
  ERROR
}
