/**
 * A recorded trace behind the questions and pages of a job: {@code retstack view}.
 *
 * <p>{@link dev.retstack.answers.viewer.TraceSource} answers; {@link
 * dev.retstack.answers.viewer.TraceServer} is its HTTP side, on this machine alone.
 */
package dev.retstack.answers.viewer;
