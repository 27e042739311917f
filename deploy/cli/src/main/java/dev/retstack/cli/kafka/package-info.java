/** What the command itself does with Kafka's topics. */
package dev.retstack.cli.kafka;
