package dev.retstack.machine.isa.call;

import it.unimi.dsi.fastutil.bytes.ByteList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A change of a call site: the bytes that must be there, and the bytes that replace them. {@link
 * #apply} compares the old bytes before it writes.
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
   * make_nop: switches a call off.
   *
   * @param address of the site, as {@link AbiCard#callAdjust} says
   * @param site its bytes, as they stand in the file
   * @return empty where the convention has no nops of that length
   */
  public static Optional<CodePatch> makeNop(AbiCard card, long address, byte[] site) {
    return card.nop(site).map(nops -> new CodePatch(address, ByteList.of(site), ByteList.of(nops)));
  }

  /**
   * make_call: puts a call back, to where it went or to another place.
   *
   * @param address of the site, as for {@link #makeNop}
   * @param site its bytes, as they stand in the file; where the call goes by a pointer, a direct
   *     call of the same length takes its place
   * @param target what is called
   * @param wordBytes of the ISA
   * @return empty where no call of that length reaches the target
   */
  public static Optional<CodePatch> makeCall(
      AbiCard card, long address, byte[] site, long target, int wordBytes) {
    Optional<byte[]> nops = card.nop(site);
    int lead = card.leadBytes(site);
    byte[] call = Arrays.copyOfRange(site, lead, site.length);
    if (nops.isEmpty() || call.length > Long.BYTES) {
      return Optional.empty();
    }
    long old = number(call);
    for (CallForm form : card.callForms()) {
      if (form.size() == call.length && !form.indirect()) {
        long code = form.matches(old) ? old : form.pattern();
        OptionalLong encoded = form.encode(address + lead, target, code, wordBytes);
        if (encoded.isPresent()) {
          byte[] bytes = site.clone();
          System.arraycopy(bytes(encoded.getAsLong(), call.length), 0, bytes, lead, call.length);
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
