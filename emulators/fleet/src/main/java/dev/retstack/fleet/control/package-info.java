/**
 * How a fleet is commanded: commands, whom they select, where they come from, what they add up to.
 */
package dev.retstack.fleet.control;
