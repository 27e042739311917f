/** How records become bytes: the contract of a codec, and the codec that any Avro client reads. */
package dev.retstack.schema.codec;
