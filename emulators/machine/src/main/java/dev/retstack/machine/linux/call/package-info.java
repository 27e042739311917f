/** How a program asks Linux for something: registers, numbers, arguments, results and errors. */
package dev.retstack.machine.linux.call;
