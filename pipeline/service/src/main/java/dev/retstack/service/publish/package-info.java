/** What was found, as records of the published topics. */
package dev.retstack.service.publish;
