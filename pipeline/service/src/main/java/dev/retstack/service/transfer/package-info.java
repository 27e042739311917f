/** Between a trace file and topics: sent to Kafka, and read from it. */
package dev.retstack.service.transfer;
