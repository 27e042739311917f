/** The recorded trace: written, read, sealed with an index and a pyramid. */
package dev.retstack.schema.file;
