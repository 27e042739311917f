package dev.retstack.unicorn;

/**
 * A Java hook as C calls it.
 *
 * @param function address of a function of that kind of hook
 * @param userData its last argument
 */
public record NativeCallback(long function, long userData) {}
