/** Where the chunks of each core are in the log: the index of a partition. */
package dev.retstack.graph.places;
