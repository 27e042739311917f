/** Checks of this machine: what is there, what is missing, how to fix it. */
package dev.retstack.cli.doctor;
