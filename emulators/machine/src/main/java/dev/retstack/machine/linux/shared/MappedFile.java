package dev.retstack.machine.linux.shared;

/**
 * Pages of a file that were mapped together.
 *
 * @param start address of the first
 * @param offset of the first in the file
 * @param inode of the file
 * @param name of the file, as the program knows it
 * @param shared true where others would see what is written there
 */
public record MappedFile(long start, long offset, long inode, String name, boolean shared) {}
