package dev.retstack.service.nodes;

import java.util.Locale;

/** What a member does; one may do both. */
public enum Role {
  /** Joins the group, owns partitions, and answers other members about them. */
  INGEST,
  /** Answers for the whole job. */
  QUERY;

  /** Word for {@code --role} and for the nodes topic. */
  public String word() {
    return name().toLowerCase(Locale.ROOT);
  }
}
