/** The codec that predicts records. {@code schemas/PACKED.md} specifies it. */
package dev.retstack.schema.codec.packed;
