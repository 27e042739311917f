package dev.retstack.unicorn;

/**
 * A block as the translator cut it ({@code uc_tb}).
 *
 * @param pc guest address of its first instruction
 * @param icount guest instructions in it
 * @param size bytes of guest code in it
 */
public record TranslationBlock(long pc, int icount, int size) {}
