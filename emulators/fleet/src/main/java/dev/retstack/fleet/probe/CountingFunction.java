package dev.retstack.fleet.probe;

import dev.retstack.fleet.isa.AbiCard;

/**
 * A counting function in an image.
 *
 * @param address of its first byte
 * @param card the convention that it is called by
 */
public record CountingFunction(long address, AbiCard card) {}
