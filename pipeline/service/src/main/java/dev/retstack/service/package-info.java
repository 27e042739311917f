/**
 * One member of the pipeline: {@code PipelineService} starts its actors, threads and HTTP server.
 */
package dev.retstack.service;
