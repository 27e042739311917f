/** Checks of this machine: what is there, what is missing, how to mend it. */
package dev.retstack.cli.doctor;
