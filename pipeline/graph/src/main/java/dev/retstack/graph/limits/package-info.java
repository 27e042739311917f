/** How large a state may grow, and the budget of bytes that its parts share. */
package dev.retstack.graph.limits;
