/** The inner loops alone, measured by JMH. The whole path is measured by {@code retstack bench}. */
package dev.retstack.benchmarks;
