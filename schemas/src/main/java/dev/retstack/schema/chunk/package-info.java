/** A chunk: sealed by a producer, checked and unpacked by a consumer. */
package dev.retstack.schema.chunk;
