/**
 * What a core traces, as values, and how a fleet is told. {@link
 * dev.retstack.fleet.control.TraceSettings} is the sum of it; everything in it has one text form,
 * the same on the command line, in a fleet file and in a command that comes through Kafka.
 */
package dev.retstack.fleet.control;
