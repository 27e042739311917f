/**
 * Who a member is. A record in a topic grants no trust: a member is who is in its consumer group,
 * as Kafka says, and proves it with the key that its client id names.
 */
package dev.retstack.service.identity;
