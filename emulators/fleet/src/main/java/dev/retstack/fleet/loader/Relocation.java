package dev.retstack.fleet.loader;

/**
 * A place whose bytes a linker computes, or has computed, from a symbol.
 *
 * @param address of the place
 * @param type number, as the ABI of the ISA lists them
 * @param symbol its name
 */
record Relocation(long address, int type, String symbol) {}
