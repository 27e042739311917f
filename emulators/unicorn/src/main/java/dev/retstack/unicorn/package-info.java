/**
 * The Java binding of the Unicorn CPU emulator, on the Foreign Function and Memory API. It knows
 * nothing of tracing.
 *
 * <p>{@link dev.retstack.unicorn.Unicorn} is the facade; its method names are those of the official
 * binding. Only {@code library.UnicornLibrary} meets {@link java.lang.foreign.Linker}. The
 * constants and {@link dev.retstack.unicorn.UcError} are generated from Unicorn's headers.
 *
 * <p>Addresses, sizes and register values are unsigned numbers in a {@code long}; sizes are in
 * bytes; memory is in guest byte order. What goes wrong in the library is a {@link
 * dev.retstack.unicorn.UnicornException} with the library's error; what the caller does wrong is an
 * {@link java.lang.IllegalArgumentException} or {@link java.lang.IllegalStateException}.
 */
package dev.retstack.unicorn;
