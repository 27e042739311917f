/** What a fleet reports: how far it is, and what became of each core. */
package dev.retstack.fleet.progress;
