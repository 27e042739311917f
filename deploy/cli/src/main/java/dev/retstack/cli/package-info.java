/**
 * The {@code retstack} command: {@code verb} has one file per verb, {@code option} what several
 * verbs ask for, {@code broker} the Kafka broker that stands in where the user has none, {@code
 * doctor} the checks of this machine.
 */
package dev.retstack.cli;
