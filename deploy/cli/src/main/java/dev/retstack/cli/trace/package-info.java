/**
 * What the fleets' rules of commands mean to a member of the pipeline, which does not know them.
 */
package dev.retstack.cli.trace;
