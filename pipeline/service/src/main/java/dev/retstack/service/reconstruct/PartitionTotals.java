package dev.retstack.service.reconstruct;

import dev.retstack.graph.report.StateTotals;

/**
 * What one partition adds up to, taken at a small part of the cost of a {@link StateCopy}; the
 * asker may read it on any thread.
 *
 * @param position where the partition stood, without its state
 */
public record PartitionTotals(StateCopy position, StateTotals totals) {}
