package dev.retstack.machine.memory;

import java.lang.foreign.MemorySegment;

/**
 * A run of host memory behind guest memory.
 *
 * @param start guest address
 * @param host as long as the range
 * @param pages a byte for each page, 0 where nothing is mapped; {@code NULL}: all pages are mapped
 */
public record HostRange(long start, MemorySegment host, MemorySegment pages) {}
