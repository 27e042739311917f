package dev.retstack.service.partition;

import dev.retstack.graph.input.LateSymbols;
import dev.retstack.graph.limits.GraphLimits;
import dev.retstack.graph.totals.TimeRules;
import dev.retstack.schema.wire.Topics;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * What every partition of a member has to know.
 *
 * @param checkpointInterval longest time between a chunk and the checkpoint that holds it
 * @param checkpointChunks chunks after which a checkpoint is taken earlier than that
 * @param totalsInterval how often totals that changed are published while cores run
 * @param imagePatience how long a chunk waits for its image
 * @param waitingBytes of what is known of chunks that wait, and as much again for their records
 * @param spanThreshold shortest call that is published to spans, in the core's unit; empty = none
 * @param limits what a stream can make grow at most
 * @param keepEnded how long, by the log's time, sessions stay of which nothing comes; zero = for
 *     ever
 * @param rules which time is in totals
 * @param names for images that are announced without
 */
public record PartitionSettings(
    Topics topics,
    Duration checkpointInterval,
    int checkpointChunks,
    Duration totalsInterval,
    Duration imagePatience,
    long waitingBytes,
    OptionalLong spanThreshold,
    GraphLimits limits,
    Duration keepEnded,
    TimeRules rules,
    LateSymbols names) {}
