/**
 * The other end of the control topic: sends commands to running fleets and collects the answers.
 */
package dev.retstack.cli.trace;
