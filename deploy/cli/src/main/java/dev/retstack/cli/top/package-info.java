/** {@code retstack top}: two samples of a running pipeline, and what changed between them. */
package dev.retstack.cli.top;
