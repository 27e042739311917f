/**
 * The reconstruction of a core: which call a record opens, ends or proves dead, and what its calls
 * add up to.
 */
package dev.retstack.graph.calls;
