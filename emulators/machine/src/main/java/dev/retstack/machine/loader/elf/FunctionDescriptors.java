package dev.retstack.machine.loader.elf;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * Function descriptors, by which ppc64 ELFv1 names code (64-bit PowerPC ELF ABI Supplement 1.9,
 * "Function Descriptors"). The value of a function's symbol and {@code e_entry} are the address of
 * a descriptor in {@code .opd}:
 *
 * <pre>
 *   0(descriptor)    address of the first instruction
 *   8(descriptor)    TOC: r2 while the function runs
 *   16(descriptor)   static chain: r11, unused by C; a linker may leave the word out
 * </pre>
 *
 * <p>What decides is the file: an {@code .opd} section, and the address of a function in it.
 */
final class FunctionDescriptors {
  private static final String SECTION = ".opd";

  private final ElfBytes bytes;
  private final SegmentTable segments;
  private final Optional<Section> opd;

  /** The descriptors of a file; none where it has no {@code .opd}. */
  FunctionDescriptors(ElfBytes bytes, SegmentTable segments, SectionTable sections) {
    this.bytes = bytes;
    this.segments = segments;
    this.opd = sections.find(SECTION).filter(Section::allocated);
  }

  /**
   * A descriptor.
   *
   * @param code address of the first instruction: in an executable segment, checked
   * @param toc what r2 must be there; any number
   */
  record Descriptor(long code, long toc) {}

  /** The symbols, those that name the descriptor of a function moved to its code. */
  List<Symbol> resolve(List<Symbol> symbols) throws ElfFormatException {
    if (opd.isEmpty()) {
      return symbols;
    }
    List<Symbol> resolved = new ArrayList<>(symbols.size());
    for (Symbol s : symbols) {
      Optional<Descriptor> descriptor =
          s.kind().isFunction() ? at(s.address(), "of " + s.name()) : Optional.empty();
      resolved.add(descriptor.isEmpty() ? s : s.movedTo(descriptor.get().code()));
    }
    return resolved;
  }

  /**
   * The descriptor at an address; empty where the address does not lie in {@code .opd}.
   *
   * @param owner whose descriptor it is, for the message
   * @throws ElfFormatException where it lies there, but is no descriptor of code
   */
  Optional<Descriptor> at(long address, String owner) throws ElfFormatException {
    if (opd.isEmpty() || !opd.get().contains(address)) {
      return Optional.empty();
    }
    String field = "the function descriptor " + owner;
    int word = bytes.wordBytes();
    long offset = address - opd.get().address();
    Optional<ByteBuffer> words = segments.data(address, 2 * word);
    if (offset % word != 0 || opd.get().size() - offset < 2L * word || words.isEmpty()) {
      throw bytes.damaged(
          field,
          "at 0x%x".formatted(address),
          "two aligned words of %s, 0x%x with %d bytes"
              .formatted(SECTION, opd.get().address(), opd.get().size()));
    }
    long code = word(words.get(), 0) + segments.bias();
    if (code % Integer.BYTES != 0 || !segments.executable(code)) {
      throw bytes.damaged(
          field, "0x%x".formatted(code), "an aligned address in an executable segment");
    }
    return Optional.of(new Descriptor(code, word(words.get(), word) + segments.bias()));
  }

  private long word(ByteBuffer words, int at) {
    return bytes.is64() ? words.getLong(at) : words.getInt(at) & 0xFFFF_FFFFL;
  }
}
