/** Which functions were entered, of those that could be seen. */
package dev.retstack.graph.coverage;
