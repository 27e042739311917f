/** What a core did, by tiles of time: fine ones, and coarser ones made of them. */
package dev.retstack.graph.pyramid;
