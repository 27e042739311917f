/**
 * Fleet files. A group of cores in a file is a command line in another form: each key is an option
 * of {@code retstack emulate}, and its text goes through that option's own reader.
 *
 * <p>{@code file -> FleetFile -> ArgumentReader (option words, with their places) -> GroupReader ->
 * FleetFile.Plan}. Problems on the way are gathered in {@code Problems} and reported together.
 */
package dev.retstack.cli.fleetfile;
