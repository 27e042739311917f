/** The tracer's own code in guest memory, where hijacked returns arrive and continue. */
package dev.retstack.machine.landing;
