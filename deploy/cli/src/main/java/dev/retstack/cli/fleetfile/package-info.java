/**
 * Fleet files. A group of cores in a file is a command line, written otherwise: each key is an
 * option of {@code retstack emulate}, its text goes through that option's own reader.
 *
 * <p>{@code file -> Hocon -> ArgumentReader (option words, with their places) -> GroupReader ->
 * FleetPlan}; what is wrong on the way is gathered in {@code Problems} and told at once.
 */
package dev.retstack.cli.fleetfile;
