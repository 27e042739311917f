/** The function and the source line at an address. */
package dev.retstack.graph.symbol;
