/**
 * From a file to what a core can run: ELF files parsed with every bound checked, then matched with
 * the ISA and the calling convention of the counting function.
 *
 * <p>Input is hostile until proved otherwise: a file that lies gives an {@link
 * dev.retstack.fleet.loader.ElfFormatException}, never another exception, a hang or an allocation
 * that the file's own size does not justify.
 */
package dev.retstack.fleet.loader;
