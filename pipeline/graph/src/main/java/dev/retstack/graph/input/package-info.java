/** What comes in: chunks, images, cores, clock units, and what became of a chunk. */
package dev.retstack.graph.input;
