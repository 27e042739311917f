/**
 * Questions about the whole job: this member answers from copies of the state, and asks the others.
 */
package dev.retstack.service.query;
