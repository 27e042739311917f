/** What {@code retstack isa} shows: the capability table, and the conformance table. */
package dev.retstack.cli.isa;
