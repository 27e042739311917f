/**
 * The user's end of the control topic: commands to running fleets, their answers, and the audit
 * log; over HTTP too.
 */
package dev.retstack.service.control;
