/** The other end of the control topic: gives commands to running fleets and gathers answers. */
package dev.retstack.cli.trace;
