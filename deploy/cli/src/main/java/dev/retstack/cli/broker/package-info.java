/** The Kafka broker that the command starts if the user has none. */
package dev.retstack.cli.broker;
