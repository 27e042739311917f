/** Every number in {@code /metrics}. */
package dev.retstack.service.metrics;
