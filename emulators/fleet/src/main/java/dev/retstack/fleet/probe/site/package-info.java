/** Where functions are entered: call sites, their patches, and what the settings say of each. */
package dev.retstack.fleet.probe.site;
