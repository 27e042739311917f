/** Where a result comes from: a recorded trace, or a running pipeline. */
package dev.retstack.cli.source;
