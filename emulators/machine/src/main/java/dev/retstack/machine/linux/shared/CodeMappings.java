package dev.retstack.machine.linux.shared;

import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.SharedObjects;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.memory.GuestMemory;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.OptionalLong;

/** The executable mappings of ELF files in a process, and the listeners for them. */
public final class CodeMappings {
  private record Code(ElfFile elf, long bias) {}

  private final List<MappedObjects> listeners = new ArrayList<>();
  private final AddressRanges<Code> ranges = new AddressRanges<>();

  public void listen(MappedObjects listener) {
    listeners.add(listener);
  }

  /** A part of a file was mapped. What is no ELF file, or is damaged, is none of ours. */
  public void mapped(Path file, long base, long fileOffset, long length, int protection) {
    if ((protection & GuestMemory.EXECUTE) == 0) {
      return;
    }
    try {
      LoadedImage image = SharedObjects.read(file);
      OptionalLong linkedAt = image.elf().pageLoadedFrom(fileOffset);
      if (linkedAt.isPresent()) {
        long bias = base - linkedAt.getAsLong();
        announce(new MappedObjects.Mapped(image, bias, base, fileOffset, length, protection));
      }
    } catch (IOException e) {
      // the program runs what it likes; the tracer knows nothing of it
    }
  }

  /** The program's interpreter, which was loaded with it. */
  public void interpreter(LoadedImage image) {
    for (ElfFile.FilePages pages : image.elf().codePages()) {
      announce(
          new MappedObjects.Mapped(
              image, 0, pages.address(), pages.fileOffset(), pages.size(), pages.protection()));
    }
  }

  private void announce(MappedObjects.Mapped object) {
    long end = object.base() + object.length();
    ranges.add(object.base(), end, new Code(object.image().elf(), object.bias()));
    listeners.forEach(listener -> listener.mapped(object));
  }

  /** The place of an address in a shared object: {@code memcpy+0x12 of libc.so.6}. */
  public Optional<String> place(long pc) {
    return ranges.at(pc).map(code -> place(code.elf, pc - code.bias));
  }

  private static String place(ElfFile elf, long address) {
    return elf.functionAt(address)
        .filter(f -> Long.compareUnsigned(address - f.address(), f.size()) < 0)
        .map(f -> "%s+0x%x of %s".formatted(f.name(), address - f.address(), elf.name()))
        .orElseGet(() -> "%s+0x%x".formatted(elf.name(), address - elf.bias()));
  }

  /** Memory was unmapped, or is about to be something else. */
  public void unmapped(long base, long length) {
    ranges.remove(
        base,
        length,
        (from, bytes) -> listeners.forEach(listener -> listener.unmapped(from, bytes)));
  }
}
