package dev.retstack.benchmarks.measure;

/**
 * A measured figure.
 *
 * @param stage part of the path: capture, encode, decode, apply, live
 * @param subject what was run
 * @param figure what was measured, with its unit at the end: {@code nsPerCall}
 * @param value median over the rounds
 */
public record Measure(String stage, String subject, String figure, double value) {}
