/** The Kafka broker that stands in where the user has none. */
package dev.retstack.cli.broker;
