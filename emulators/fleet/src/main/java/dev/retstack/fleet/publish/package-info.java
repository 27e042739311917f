/**
 * From batches of records to chunks, and from chunks to Kafka or a file. A sink that waits is
 * backpressure: the core stands still, nothing is dropped.
 */
package dev.retstack.fleet.publish;
