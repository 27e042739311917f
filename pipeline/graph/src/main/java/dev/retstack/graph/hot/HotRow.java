package dev.retstack.graph.hot;

/**
 * A hot address with its name.
 *
 * @param function its symbol, with the offset where several addresses are counted as one; the
 *     address in hex where unknown
 * @param image file name of the image
 * @param count how often it was called
 */
public record HotRow(String function, String image, String isa, HotCount count) {}
