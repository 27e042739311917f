/** What a running pipeline does now: two samples, and what changed between them. */
package dev.retstack.cli.top;
