/** What a member presents and trusts over HTTPS. */
package dev.retstack.answers.tls;
