/**
 * What stages measure with: CPU time, memory, processes seen from outside, rounds and their table.
 */
package dev.retstack.benchmarks.measure;
