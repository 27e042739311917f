/**
 * ELF files (System V gABI, chapters 4 and 5), parsed with every bound checked.
 *
 * <p>Input is hostile until proved otherwise: a file that lies gives an {@link
 * dev.retstack.machine.loader.elf.ElfFormatException}, never another exception, a hang or an
 * allocation that the file's own size does not justify.
 */
package dev.retstack.machine.loader.elf;
