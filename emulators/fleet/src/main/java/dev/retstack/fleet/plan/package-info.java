/** What a fleet is to run: its cores, and how it runs them. */
package dev.retstack.fleet.plan;
