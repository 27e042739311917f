/**
 * First rates of each stage of the path, measured in one run so that their ratios mean something.
 */
package dev.retstack.benchmarks.stages;
