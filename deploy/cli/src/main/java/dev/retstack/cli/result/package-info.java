/** Verbs that show a result, of a recorded trace or of a running pipeline. */
package dev.retstack.cli.result;
