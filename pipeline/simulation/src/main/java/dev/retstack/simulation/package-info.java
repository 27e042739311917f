/** Workloads, faults and invariants for random tests of the pipeline; no product code. */
package dev.retstack.simulation;
