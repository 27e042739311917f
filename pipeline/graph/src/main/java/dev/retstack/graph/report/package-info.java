/** Rows of an answer in a fixed order, trees with names, and the result hash. */
package dev.retstack.graph.report;
