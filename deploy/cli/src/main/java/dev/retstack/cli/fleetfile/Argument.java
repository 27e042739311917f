package dev.retstack.cli.fleetfile;

import com.typesafe.config.ConfigOrigin;

/**
 * A value of a fleet file as a word of a command line.
 *
 * @param key name of the option without dashes
 * @param text the value
 * @param word {@code --key=text}
 * @param origin where it stands
 */
record Argument(String key, String text, String word, ConfigOrigin origin) {}
