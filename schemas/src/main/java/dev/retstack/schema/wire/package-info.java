/** Topics, schema ids, and the frame of a message. */
package dev.retstack.schema.wire;
