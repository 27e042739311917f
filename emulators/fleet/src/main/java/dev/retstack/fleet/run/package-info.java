/** One core of a fleet, a slice at a time: what it traces now, and the commands it follows. */
package dev.retstack.fleet.run;
