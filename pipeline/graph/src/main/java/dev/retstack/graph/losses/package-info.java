/** Where records of a core are missing. */
package dev.retstack.graph.losses;
