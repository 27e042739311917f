package dev.retstack.fleet.control;

/**
 * What a {@link FunctionPattern} is held against.
 *
 * @param function name of the function; empty where no symbol tells
 * @param site address of its call site, which is its selfpc
 * @param section that holds the site, such as {@code .text}; empty where the file has no sections
 * @param image name of the program's file
 */
public record PatternSubject(String function, long site, String section, String image) {}
