/**
 * How fast a member worked lately: a bounded past of records, lag, losses and the cost of
 * checkpoints, in memory alone. Members add up theirs.
 */
package dev.retstack.answers.history;
