/** One actor for each partition, around the pure {@code ChunkApplier}. */
package dev.retstack.service.partition;
