/** {@code retstack bench}: what can be measured. The benchmarks themselves are another module. */
package dev.retstack.cli.bench;
