/** What the calls of several cores add up to by the names of the functions in their stacks. */
package dev.retstack.graph.stacks;
