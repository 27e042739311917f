package dev.retstack.service.partition;

import dev.retstack.graph.limits.StateBudget;
import dev.retstack.service.images.ImageRegistry;
import dev.retstack.service.metrics.PartitionMeter;
import dev.retstack.service.progress.CoreWatch;
import java.util.OptionalLong;
import java.util.concurrent.CompletionStage;
import java.util.function.Supplier;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * What a partition speaks with besides its ledger.
 *
 * @param images knows the images
 * @param watch hears how far each core came
 * @param meter counts what happens to the partition
 * @param budget bytes that the states of the member's partitions may hold together
 * @param logStart asks for the first offset that the log still has; empty where Kafka does not
 *     answer
 */
public record PartitionPeers(
    ActorRef<ImageRegistry.Command> images,
    ActorRef<CoreWatch.Command> watch,
    PartitionMeter meter,
    StateBudget budget,
    Supplier<CompletionStage<OptionalLong>> logStart) {}
