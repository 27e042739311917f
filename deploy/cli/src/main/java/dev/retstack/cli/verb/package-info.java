/** One file per verb. */
package dev.retstack.cli.verb;
