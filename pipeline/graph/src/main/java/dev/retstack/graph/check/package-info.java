/** What is wrong or missing: kinds of anomalies, stats, and the sentences that say them. */
package dev.retstack.graph.check;
