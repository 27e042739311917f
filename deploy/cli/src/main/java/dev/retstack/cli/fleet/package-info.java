/** Runs fleets of cores for the verbs that emulate: what to run, progress, closing words. */
package dev.retstack.cli.fleet;
