package dev.retstack.fleet.isa;

/**
 * A relocation by which an assembler leaves the target of a call to the linker.
 *
 * @param type its number, as the ABI of the ISA lists them
 * @param at bytes from the first one of the call to the place that it names
 */
public record CallRelocation(int type, int at) {}
