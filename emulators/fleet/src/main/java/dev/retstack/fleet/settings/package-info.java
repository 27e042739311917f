/** What a core traces, as values with one text form each, and what an order makes of them. */
package dev.retstack.fleet.settings;
