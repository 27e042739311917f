/** The member of the consumer group: which partitions are opened, paused and closed. */
package dev.retstack.service.consume;
