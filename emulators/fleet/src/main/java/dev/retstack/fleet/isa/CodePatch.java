package dev.retstack.fleet.isa;

import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A change of a call site, from what must stand there to what shall. Before anything is written the
 * old bytes are compared with what is expected.
 *
 * @param address of the first byte
 * @param expected what stands there
 * @param replacement as long
 */
public record CodePatch(long address, ByteList expected, ByteList replacement) {
  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");

  /** Memory that holds code. */
  public interface CodeMemory {
    byte[] read(long address, int length);

    void write(long address, byte[] bytes);
  }

  /** Something else stands there than was expected; nothing was written. */
  public static final class RefusedException extends Exception {
    private static final long serialVersionUID = 1;

    RefusedException(CodePatch patch, byte[] found) {
      super(
          "0x%x: expected %s, found %s: nothing was written"
              .formatted(
                  patch.address,
                  HEX.formatHex(patch.expected.toByteArray()),
                  HEX.formatHex(found)));
    }
  }

  public CodePatch {
    if (expected.size() != replacement.size() || expected.isEmpty()) {
      throw new IllegalArgumentException(
          "%d bytes for %d at 0x%x: as many as there are, and at least one"
              .formatted(replacement.size(), expected.size(), address));
    }
  }

  /**
   * Switches a call off.
   *
   * @param call the bytes of the call, as they stand in the file
   * @return empty where the convention has no nops of that length
   */
  public static Optional<CodePatch> makeNop(AbiCard card, long address, byte[] call) {
    return card.nop(call).map(nops -> new CodePatch(address, ByteList.of(call), ByteList.of(nops)));
  }

  /**
   * Puts a call back, to where it went or to another place.
   *
   * @param call the bytes of the call, as they stand in the file; where it goes by a pointer, a
   *     direct call of the same length takes its place
   * @param target what is called
   * @param wordBytes of the ISA
   * @return empty where no call of that length reaches the target
   */
  public static Optional<CodePatch> makeCall(
      AbiCard card, long address, byte[] call, long target, int wordBytes) {
    Optional<byte[]> nops = card.nop(call);
    if (nops.isEmpty()) {
      return Optional.empty();
    }
    long old = number(call);
    for (CallForm form : card.callForms()) {
      if (form.size() == call.length && !form.indirect()) {
        long code = form.matches(old) ? old : form.pattern();
        OptionalLong encoded = form.encode(address, target, code, wordBytes);
        if (encoded.isPresent()) {
          byte[] bytes = bytes(encoded.getAsLong(), call.length);
          return Optional.of(new CodePatch(address, ByteList.of(nops.get()), ByteList.of(bytes)));
        }
      }
    }
    return Optional.empty();
  }

  /** The way back. */
  public CodePatch inverse() {
    return new CodePatch(address, replacement, expected);
  }

  /**
   * Compares, then writes.
   *
   * @throws RefusedException where other bytes stand there; nothing is written then
   */
  public void apply(CodeMemory memory) throws RefusedException {
    byte[] found = memory.read(address, expected.size());
    if (!ByteList.of(found).equals(expected)) {
      throw new RefusedException(this, found);
    }
    memory.write(address, replacement.toByteArray());
  }

  private static long number(byte[] bytes) {
    long code = 0;
    for (int i = bytes.length - 1; i >= 0; i--) {
      code = (code << Byte.SIZE) | (bytes[i] & 0xff);
    }
    return code;
  }

  private static byte[] bytes(long code, int length) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (code >>> (Byte.SIZE * i));
    }
    return bytes;
  }
}
