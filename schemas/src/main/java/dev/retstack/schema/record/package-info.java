/** The records of one core in memory, and what their numbers and words mean. */
package dev.retstack.schema.record;
