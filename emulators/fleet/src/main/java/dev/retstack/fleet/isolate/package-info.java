/**
 * Cores of images that nobody vouches for, in separate processes: a guest can bring down the
 * emulator's process, and must not bring down the fleet.
 *
 * <p>{@code IsolatedFleet} (this process) {@code <- frames -> CoreHost} (one child per image). The
 * child runs an ordinary {@link dev.retstack.fleet.Fleet}; chunks, output and progress come to the
 * parent in checked frames, and nothing in them is believed.
 */
package dev.retstack.fleet.isolate;
