/**
 * Fleets of emulated cores: everything from an image to the chunks of its hijack records. {@code
 * machine -> core (probe) -> run -> publish}; {@link dev.retstack.fleet.Fleet} runs it all.
 */
package dev.retstack.fleet;
