/**
 * What every verb has: the terminal, output, exit codes, sentences for failures, an orderly end.
 */
package dev.retstack.cli.command;
