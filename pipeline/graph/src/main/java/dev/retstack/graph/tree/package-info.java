/** The call tree of a core, row by row. */
package dev.retstack.graph.tree;
