/**
 * Where calls of the functions with some names are, over any length of time: {@code /hits}.
 *
 * <p>{@link dev.retstack.answers.search.CallSearch} hears of each call while chunks are read, and
 * keeps a bounded number of places.
 */
package dev.retstack.answers.search;
