package dev.retstack.service.reconstruct;

import dev.retstack.service.ingest.ImageRegistry;
import dev.retstack.service.metrics.PartitionMeter;
import dev.retstack.service.progress.CoreWatch;
import org.apache.pekko.actor.typed.ActorRef;

/**
 * Whom a partition speaks with beside its ledger.
 *
 * @param images knows the images
 * @param watch hears how far each core came
 * @param meter counts what happens to the partition
 * @param shares how much of the processors' time the member's partitions may take
 */
public record PartitionPeers(
    ActorRef<ImageRegistry.Command> images,
    ActorRef<CoreWatch.Command> watch,
    PartitionMeter meter,
    MemberShares shares) {}
