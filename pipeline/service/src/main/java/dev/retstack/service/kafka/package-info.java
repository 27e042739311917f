/** Settings of the Kafka clients, topics, and the identity with which a member commits. */
package dev.retstack.service.kafka;
