/**
 * Identity of members. A record in a topic grants no trust. Kafka says who is in the consumer
 * group, and a member proves it with the key that its client id names.
 */
package dev.retstack.service.identity;
