/** Which members and fleets run, as they announce it in topics, and which cores are dead. */
package dev.retstack.service.nodes;
