/** What runs and how: images, programs and cores as options, and the run of a fleet. */
package dev.retstack.cli.fleet;
