/**
 * All images of a job: read from their topic, kept, found again, and refused where they conflict.
 */
package dev.retstack.service.images;
