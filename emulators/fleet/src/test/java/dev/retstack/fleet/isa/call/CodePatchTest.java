package dev.retstack.fleet.isa.call;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.fleet.core.Core;
import dev.retstack.fleet.core.CoreOptions;
import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.CodePatch;
import dev.retstack.machine.isa.call.CodePatch.CodeMemory;
import dev.retstack.machine.isa.call.CodePatch.RefusedException;
import dev.retstack.machine.loader.ActiveConvention;
import dev.retstack.machine.loader.CallSite;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.elf.ElfFile;
import it.unimi.dsi.fastutil.bytes.ByteList;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Calls to nops and back, at every site of every image. */
class CodePatchTest {
  static Stream<LoadedImage> images() {
    return Zoo.images().stream();
  }

  /**
   * A call with all that is known of it.
   *
   * @param address of its site
   * @param bytes of its site
   */
  @SuppressWarnings("ArrayRecordComponent") // never compared
  private record Call(AbiCard card, CallSite site, CallForm form, long address, byte[] bytes) {
    int lead() {
      return (int) (site.address() - address);
    }

    /** The call alone, in a site of this one's length. */
    long code(ByteList of) {
      long code = 0;
      for (int i = of.size() - 1; i >= lead(); i--) {
        code = (code << 8) | (of.getByte(i) & 0xff);
      }
      return code;
    }
  }

  private static List<Call> calls(LoadedImage image) {
    List<Call> calls = new ArrayList<>();
    for (ActiveConvention convention : image.conventions()) {
      for (CallSite site : convention.sites()) {
        int size = (int) (site.after() - site.address());
        if (size > 0) {
          AbiCard card = convention.card();
          long start = card.callAdjust(image.elf().codeReader(), site.address());
          byte[] bytes = new byte[(int) (site.after() - start)];
          image.elf().memory(start, bytes.length).orElseThrow().get(0, bytes);
          long code = image.elf().codeReader().at(site.address());
          CallForm form =
              card.callForms().stream()
                  .filter(f -> f.size() == size && f.matches(code))
                  .findFirst()
                  .orElseThrow();
          calls.add(new Call(card, site, form, start, bytes));
        }
      }
    }
    return calls;
  }

  /** The code of an image, that can be changed. */
  private static final class Text implements CodeMemory {
    private final List<ElfFile.CodeRange> ranges = new ArrayList<>();

    Text(LoadedImage image) {
      for (ElfFile.CodeRange range : image.elf().code()) {
        byte[] copy = new byte[range.bytes().capacity()];
        range.bytes().get(0, copy);
        ranges.add(new ElfFile.CodeRange(range.address(), ByteBuffer.wrap(copy)));
      }
    }

    private ElfFile.CodeRange holding(long address) {
      return ranges.stream()
          .filter(r -> address >= r.address() && address < r.address() + r.bytes().capacity())
          .findFirst()
          .orElseThrow();
    }

    @Override
    public byte[] read(long address, int length) {
      byte[] bytes = new byte[length];
      ElfFile.CodeRange range = holding(address);
      range.bytes().get((int) (address - range.address()), bytes);
      return bytes;
    }

    @Override
    public void write(long address, byte[] bytes) {
      ElfFile.CodeRange range = holding(address);
      range.bytes().put((int) (address - range.address()), bytes);
    }

    List<ByteBuffer> all() {
      return ranges.stream().map(ElfFile.CodeRange::bytes).toList();
    }
  }

  @ParameterizedTest
  @MethodSource("images")
  void toNopsAndBackIsAsBefore(LoadedImage image) throws Exception {
    Text text = new Text(image);
    for (Call call : calls(image)) {
      CodePatch off = CodePatch.makeNop(call.card, call.address(), call.bytes).orElseThrow();
      off.apply(text);
      assertThat(text.read(call.address(), call.bytes.length)).isNotEqualTo(call.bytes);
      assertThatThrownBy(() -> off.apply(text)).isInstanceOf(RefusedException.class);
      if (call.form.indirect()) {
        off.inverse().apply(text);
      } else {
        long target =
            call.form.target().of(call.site.address(), call.code(ByteList.of(call.bytes)));
        makeCall(image, call, target).orElseThrow().apply(text);
      }
    }
    assertThat(text.all()).isEqualTo(new Text(image).all());
  }

  /** Also where the file's call goes by a pointer: a direct one takes its place. */
  @ParameterizedTest
  @MethodSource("images")
  void aCallGoesWhereItIsToldTo(LoadedImage image) throws Exception {
    SplittableRandom random = new SplittableRandom(image.elf().name().hashCode());
    for (Call call : calls(image)) {
      int size = call.bytes.length - call.lead();
      int reach = size == 2 ? 0x400 : 0x8_0000;
      long target = call.site.address() + 4L * random.nextInt(-reach / 4, reach / 4);
      CodePatch on = makeCall(image, call, target).orElseThrow();
      long made = call.code(on.replacement());
      CallForm form =
          call.card.callForms().stream()
              .filter(f -> f.size() == size && f.matches(made))
              .findFirst()
              .orElseThrow();
      long mask = image.isa().wordBytes() == 8 ? -1 : 0xffff_ffffL;
      assertThat(form.target().of(call.site.address(), made) & mask).isEqualTo(target & mask);
    }
  }

  private static Optional<CodePatch> makeCall(LoadedImage image, Call call, long target) {
    return CodePatch.makeCall(
        call.card, call.address(), call.bytes, target, image.isa().wordBytes());
  }

  /** The nops are right: all programs run as they should with every call switched off. */
  @ParameterizedTest
  @MethodSource("images")
  void programsRunAsBeforeWithEveryCallSwitchedOff(LoadedImage image) {
    List<Call> calls = calls(image);
    CoreOptions untraced = Run.options().withTraced(false);
    Run plain = Run.of(image, untraced, 1_000_000, core -> {});
    Run off = Run.of(image, untraced, 1_000_000, core -> switchOff(calls, core));
    assertThat(plain.ending().exitCode()).isZero();
    assertThat(off.output()).isEqualTo(plain.output());
    assertThat(off.ending()).isEqualTo(plain.ending());
    if (!calls.isEmpty()) {
      assertThat(off.instructions()).isNotEqualTo(plain.instructions());
    }
  }

  private static void switchOff(List<Call> calls, Core core) {
    CodeMemory memory =
        new CodeMemory() {
          @Override
          public byte[] read(long address, int length) {
            byte[] bytes = new byte[length];
            core.engine().mem_read(address, bytes);
            return bytes;
          }

          @Override
          public void write(long address, byte[] bytes) {
            core.engine().mem_write(address, bytes);
          }
        };
    for (Call call : calls) {
      try {
        CodePatch.makeNop(call.card, call.address(), call.bytes).orElseThrow().apply(memory);
      } catch (RefusedException e) {
        throw new AssertionError(e);
      }
    }
  }

  @Test
  void otherBytesAreRefusedWithBothAndNothingIsWritten() {
    LoadedImage image = Zoo.images().getFirst();
    Text text = new Text(image);
    Call call = calls(image).getFirst();
    byte[] other = call.bytes.clone();
    other[1] ^= 1;
    text.write(call.address(), other);
    CodePatch off = CodePatch.makeNop(call.card, call.address(), call.bytes).orElseThrow();
    assertThatThrownBy(() -> off.apply(text))
        .isInstanceOf(RefusedException.class)
        .hasMessageMatching(
            "0x[0-9a-f]+: expected e8( [0-9a-f]{2}){4}, found e8( [0-9a-f]{2}){4}: nothing was written");
    assertThat(text.read(call.address(), other.length)).isEqualTo(other);
  }

  /** Instructions that serve the call alone go with it: mflr and std, push. */
  @Test
  void aSiteOfSeveralInstructionsIsOne() {
    // a static chain is saved in between: then the call goes alone
    assertThat(sizes("ppc64", "profile-kernel")).contains(8).isSubsetOf(8, 4);
    assertThat(sizes("ppc64le", "profile-kernel-3")).contains(12).isSubsetOf(12, 4);
    assertThat(sizes("arm", "mcount")).containsOnly(8);
    assertThat(sizes("arm", "thumb-mcount")).containsOnly(6);
    assertThat(sizes("ppc64", "mcount")).containsOnly(4);
  }

  private static Stream<Integer> sizes(String isa, String card) {
    Isa of = Isas.find(isa).orElseThrow();
    return calls(Zoo.image(of, of.convention(card).orElseThrow())).stream()
        .filter(call -> call.card.name().equals(card))
        .map(call -> call.bytes.length);
  }

  @Test
  void aPlaceOutOfReachAndALengthWithoutNopsAreToldApart() {
    LoadedImage image = Zoo.image(Isas.find("aarch64").orElseThrow(), aarch64());
    Call call = calls(image).getFirst();
    assertThat(makeCall(image, call, call.address() + (1L << 28))).isEmpty();
    assertThat(CodePatch.makeNop(call.card, call.address(), new byte[6])).isEmpty();
    assertThatThrownBy(
            () -> new CodePatch(0, ByteList.of((byte) 1), ByteList.of((byte) 1, (byte) 2)))
        .hasMessageContaining("2 bytes for 1 at 0x0");
  }

  private static AbiCard aarch64() {
    return Isas.find("aarch64").orElseThrow().convention("mcount").orElseThrow();
  }
}
