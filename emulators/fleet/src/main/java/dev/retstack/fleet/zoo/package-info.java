/**
 * The conformance suite: every program of the zoo ({@code emulators/guest}) in every image, held
 * against what is known of it from elsewhere. Tests and {@code retstack isa --verify} run the same
 * checks.
 */
package dev.retstack.fleet.zoo;
