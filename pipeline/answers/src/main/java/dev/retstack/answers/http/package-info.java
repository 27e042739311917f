/** The HTTP side: its settings, who may ask, what an endpoint takes, what is refused and when. */
package dev.retstack.answers.http;
