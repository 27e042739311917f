/**
 * A recorded trace behind the questions and pages of a job: {@code retstack view}.
 *
 * <p>{@link dev.retstack.service.viewer.TraceSource} answers; {@link
 * dev.retstack.service.viewer.TraceServer} is its HTTP side, on this machine alone.
 */
package dev.retstack.service.viewer;
