/** All cores of a partition or of a replay. */
package dev.retstack.graph.state;
