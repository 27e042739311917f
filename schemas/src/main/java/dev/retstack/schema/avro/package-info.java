/** How records of the schemas become bytes, and bytes from outside become records. */
package dev.retstack.schema.avro;
