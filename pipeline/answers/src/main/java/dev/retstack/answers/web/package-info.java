/**
 * Pages for people: what a browser shows of a running job or a recorded trace. The pages are plain
 * files of the jar. They ask the questions that HTTP answers, and know nothing else.
 */
package dev.retstack.answers.web;
