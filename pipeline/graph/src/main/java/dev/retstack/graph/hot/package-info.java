/** Which functions are called most: the table of the bare-metal seed, exact counts. */
package dev.retstack.graph.hot;
