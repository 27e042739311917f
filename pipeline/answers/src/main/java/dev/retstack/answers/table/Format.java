package dev.retstack.answers.table;

/** The forms that a view has. */
public enum Format {
  /** For eyes: aligned columns, and lines that say what is missing. */
  TEXT,
  /** For programs: a contract kept stable, addresses as strings in hex. */
  JSON,
  /** For spreadsheets and databases: RFC 4180, a header line first. */
  CSV
}
