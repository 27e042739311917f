/** Sums of each function, edge, system call and interrupt. */
package dev.retstack.graph.totals;
