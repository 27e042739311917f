/** What can be asked of a running job or a recorded trace, and what is answered. */
package dev.retstack.answers.question;
