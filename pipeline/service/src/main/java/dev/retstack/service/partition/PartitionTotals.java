package dev.retstack.service.partition;

import dev.retstack.answers.state.StateCopy;
import dev.retstack.graph.top.StateTotals;

/**
 * The totals of one partition, at a small part of the cost of a {@link StateCopy}. The caller may
 * read it on any thread.
 *
 * @param position where the partition stood, without its state
 */
public record PartitionTotals(StateCopy position, StateTotals totals) {}
