/** Traces: replayed, cut, merged, sent to Kafka, and read from Kafka. */
package dev.retstack.service.replay;
