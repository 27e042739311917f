/** Which Kafka cluster, how to connect to it, and its topics. */
package dev.retstack.cli.kafka;
