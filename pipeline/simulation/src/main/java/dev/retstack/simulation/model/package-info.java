/**
 * Programs that know their own truth: calls as they were, the records that a tracer writes of them,
 * and their totals, added up in the naive way.
 */
package dev.retstack.simulation.model;
