package dev.retstack.machine.memory;

import java.lang.foreign.MemorySegment;

/**
 * Mapped pages and the host memory behind them.
 *
 * @param start guest address
 * @param host as long as the guest memory
 */
public record Mapping(long start, MemorySegment host) {}
