/**
 * What a partition writes in one transaction: changes of its state, results, and the next offset.
 */
package dev.retstack.service.checkpoint;
