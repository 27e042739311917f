package dev.retstack.cli.option;

/** Shape of the data on standard output. */
public enum Format {
  /** For eyes. */
  TEXT,
  /** For programs; stable. */
  JSON,
  /** For spreadsheets and databases; a header line first. */
  CSV
}
