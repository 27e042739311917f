/** Chunks that came before an earlier one. */
package dev.retstack.graph.late;
