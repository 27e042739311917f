/** A state as bytes: fields, CRC-32C, and the parts of its log. */
package dev.retstack.graph.snapshot;
