/** Recorded traces: replayed, indexed, cut and merged. */
package dev.retstack.answers.replay;
