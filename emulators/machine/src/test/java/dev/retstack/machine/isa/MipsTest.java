package dev.retstack.machine.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.CallForm;
import dev.retstack.machine.isa.call.Code;
import dev.retstack.machine.isa.call.SiteFacts;
import dev.retstack.machine.isa.call.SiteFacts.Where;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.Optional;
import java.util.OptionalLong;
import org.junit.jupiter.api.Test;

/** Prologues that gcc 12.2 makes, with the call and its delay slot at their end. */
class MipsTest {
  private static final long FUNCTION = 0x10_0000;

  @Test
  void aLeafKeepsItsReturnAddress() {
    // addiu sp,sp,-8; sw s8,4(sp); move s8,sp; move at,ra; jal; addiu sp,sp,-8
    SiteFacts facts = o32("27bdfff8 afbe0004 03a0f025 03e00825 0c040050 27bdfff8");
    assertThat(facts.where()).isEqualTo(Where.IN_REGISTER);
    assertThat(facts.frameBytes()).isEqualTo(16);
  }

  @Test
  void theCountingFunctionsStackIsPartOfTheWay() {
    // addiu sp,sp,-32; sw s8,24(sp); move s8,sp; sw ra,28(sp); move at,ra; jal; addiu sp,sp,-8
    SiteFacts facts = o32("27bdffe0 afbe0018 03a0f025 afbf001c 03e00825 0c040050 27bdfff8");
    assertThat(facts.savedAt()).isEqualTo(28 + 8);
    assertThat(facts.frameBytes()).isEqualTo(32 + 8);
    // -O0: the move stands in front of the call
    assertThat(o32("27bdffe0 afbe0018 03a0f025 afbf001c 03e00825 27bdfff8 0c040050 00000000"))
        .isEqualTo(facts);
    // daddiu sp,sp,-32; sd s8,16(sp); move s8,sp; sd ra,24(sp); move at,ra; jal; nop
    facts = n64("67bdffe0 ffbe0010 03a0f025 ffbf0018 03e00825 0c040058 00000000");
    assertThat(facts.savedAt()).isEqualTo(24);
    assertThat(facts.frameBytes()).isEqualTo(32);
  }

  @Test
  void aBigFrameIsMadeInSteps() {
    // addiu sp,sp,-32752; sw ra,32748(sp); addiu sp,sp,-40
    SiteFacts facts = o32("27bd8010 afbf7fec 27bdffd8 03e00825 0c040050 27bdfff8");
    assertThat(facts.savedAt()).isEqualTo(32_748 + 40 + 8);
    assertThat(facts.frameBytes()).isEqualTo(32_752 + 40 + 8);
    // addiu sp,sp,-32752; lui v1,1; ori v1,v1,0x6d0; sw ra,32748(sp); subu sp,sp,v1
    facts = o32("27bd8010 3c030001 346306d0 afbf7fec 03a3e823 03e00825 0c040050 27bdfff8");
    assertThat(facts.savedAt()).isEqualTo(32_748 + 0x1_06d0 + 8);
    // lui v1,1; daddiu sp,sp,-32752; ori v1,v1,0x6d0; sd ra,32744(sp); dsubu sp,sp,v1
    facts = n64("3c030001 67bd8010 346306d0 ffbf7fe8 03a3e82f 03e00825 0c040058 00000000");
    assertThat(facts.savedAt()).isEqualTo(32_744 + 0x1_06d0);
    // a leaf: li v1,0x9c40; subu sp,sp,v1
    facts = o32("34039c40 03a3e823 03e00825 0c040050 27bdfff8");
    assertThat(facts.where()).isEqualTo(Where.IN_REGISTER);
    assertThat(facts.frameBytes()).isEqualTo(0x9c40 + 8);
  }

  @Test
  void whatRegister12TellsIsTheOtherConvention() {
    // ...; sw ra,28(sp); move at,ra; addiu t4,sp,28; jal; addiu sp,sp,-8
    String told = "27bdffe0 afbf001c 03e00825 27ac001c 0c040050 27bdfff8";
    assertThat(scan(Mips.MIPS, "mcount", told)).isEmpty();
    assertThat(scan(Mips.MIPS, "mcount-ra", told).orElseThrow().savedAt()).isEqualTo(28 + 8);
    // a leaf: move t4,zero
    String leaf = "27bdfff8 03e00825 00006025 0c040050 27bdfff8";
    assertThat(scan(Mips.MIPS, "mcount", leaf)).isEmpty();
    assertThat(scan(Mips.MIPS, "mcount-ra", leaf).orElseThrow().where())
        .isEqualTo(Where.IN_REGISTER);
    // n64 tells in the delay slot: daddiu t0,sp,56
    String inDelaySlot = "67bdffc0 ffbf0038 03e00825 0c040058 67ac0038";
    assertThat(scan(Mips.MIPS64, "mcount", inDelaySlot)).isEmpty();
    assertThat(scan(Mips.MIPS64, "mcount-ra", inDelaySlot).orElseThrow().savedAt()).isEqualTo(56);
    // without it
    String plain = "27bdffe0 afbf001c 03e00825 0c040050 27bdfff8";
    assertThat(scan(Mips.MIPS, "mcount-ra", plain)).isEmpty();
  }

  @Test
  void bothByteOrdersReadTheSame() {
    String prologue = "27bdffe0 afbf001c 03e00825 0c040050 27bdfff8";
    assertThat(scan(Mips.MIPSEL, "mcount", prologue))
        .isEqualTo(scan(Mips.MIPS, "mcount", prologue));
  }

  @Test
  void jalReachesItsQuarterOfAGigabyte() {
    CallForm jal = Mips.MIPS.convention("mcount").orElseThrow().callForms().getFirst();
    assertThat(jal.target().of(0x9fff_fffcL, code(Mips.MIPS, "0c040050 00000000").at(FUNCTION)))
        .isEqualTo(0xa010_0140L);
    assertThat(jal.matches(code(Mips.MIPS, "08040050 00000000").at(FUNCTION))).isFalse();
  }

  /** What the code in front of the call has in $25, and from where. */
  @Test
  void theWordIsFoundThatACallGoesThrough() {
    // lui gp,2; addiu gp,gp,-32184; addu gp,gp,t9; addiu sp,sp,-48; sw ra,44(sp); move at,ra;
    // addiu sp,sp,-8; lw t9,-32684(gp); jalr t9; nop
    String own = "3c1c0002 279c8248 0399e021 27bdffd0 afbf002c 03e00825 27bdfff8 ";
    long gp = FUNCTION + 0x2_0000 - 32_184;
    assertThat(word(Mips.MIPS, own + "8f998054 0320f809 00000000")).hasValue(gp - 32_684);
    assertThat(word(Mips.MIPSEL, own + "8f998054 0320f809 00000000")).hasValue(gp - 32_684);
    // -mxgot: lui t9,1; addu t9,t9,gp; lw t9,16(t9)
    assertThat(word(Mips.MIPS, own + "3c190001 033cc821 8f390010 0320f809 00000000"))
        .hasValue(gp + 0x1_0010);
    // n64: lui gp,2; daddu gp,gp,t9; daddiu gp,gp,-32368; move at,ra; ld t9,-32696(gp)
    assertThat(word(Mips.MIPS64, "3c1c0002 0399e02d 679c8190 03e00825 df998048 0320f809 00000000"))
        .hasValue(FUNCTION + 0x2_0000 - 32_368 - 32_696);
    // -mno-shared: lui gp,0x43; addiu gp,gp,0x10
    assertThat(word(Mips.MIPS, "3c1c0043 279c0010 03e00825 8f998054 0320f809 00000000"))
        .hasValue(0x43_0010 - 32_684);
    // clang: lui v0,2; addiu v0,v0,0; addu s0,v0,t9; lw t9,24(s0); move gp,s0; move at,ra; jalr
    String clang = "3c020002 24420000 00598021 8e190018 0200e025 03e00825 0320f809 27bdfff8";
    assertThat(word(Mips.MIPS, clang)).hasValue(FUNCTION + 0x2_0018);
    // a call of any other function
    assertThat(word(Mips.MIPS, own.replace("03e00825", "00000000") + "8f998054 0320f809 00000000"))
        .isEmpty();
  }

  private static OptionalLong word(Isa isa, String listing) {
    CallForm jalr = isa.convention("mcount").orElseThrow().callForms().getLast();
    long call = FUNCTION + 4L * (listing.split(" ", -1).length - 2);
    Code code = code(isa, listing);
    assertThat(jalr.matches(code.at(call))).isTrue();
    return jalr.pointer().orElseThrow().of(code, () -> FUNCTION, call, 0);
  }

  @Test
  void aCallThatIsSwitchedOffGivesBackTheRoomThatItMakes() {
    AbiCard o32 = Mips.MIPS.convention("mcount").orElseThrow();
    assertThat(nop(o32, "0c04005027bdfff8")).isEqualTo("27bd000827bdfff8");
    assertThat(nop(o32, "0320f80900000000")).isEqualTo("27bd000800000000");
    AbiCard n64 = Mips.MIPS64.convention("mcount").orElseThrow();
    assertThat(nop(n64, "0320f80900000000")).isEqualTo("0000000000000000");
  }

  private static String nop(AbiCard card, String site) {
    HexFormat hex = HexFormat.of();
    return hex.formatHex(card.nop(hex.parseHex(site)).orElseThrow());
  }

  @Test
  void withoutASymbolAFunctionBeginsBehindTheOneInFront() {
    // jr ra; addiu sp,sp,32; nop; then addiu sp,sp,-32; sw ra,28(sp); move at,ra; jal; nop
    String two = "03e00008 27bd0020 00000000 27bdffe0 afbf001c 03e00825 27bdfff8 0c040050 00000000";
    long call = FUNCTION + 4 * 7;
    SiteFacts facts =
        Mips.MIPS
            .convention("mcount")
            .orElseThrow()
            .prologue()
            .scan(code(Mips.MIPS, two), call, call, call + 8)
            .orElseThrow();
    assertThat(facts.savedAt()).isEqualTo(28 + 8);
    assertThat(facts.frameBytes()).isEqualTo(32 + 8);
  }

  private static SiteFacts o32(String listing) {
    return scan(Mips.MIPS, "mcount", listing).orElseThrow();
  }

  private static SiteFacts n64(String listing) {
    return scan(Mips.MIPS64, "mcount", listing).orElseThrow();
  }

  private static Optional<SiteFacts> scan(Isa isa, String convention, String listing) {
    long after = FUNCTION + 4L * listing.split(" ", -1).length;
    return isa.convention(convention)
        .orElseThrow()
        .prologue()
        .scan(code(isa, listing), FUNCTION, after - 8, after);
  }

  private static Code code(Isa isa, String listing) {
    ByteBuffer bytes = ByteBuffer.allocate(256).order(isa.order());
    for (String word : listing.split(" ", -1)) {
      bytes.putInt((int) Long.parseLong(word, 16));
    }
    bytes.order(ByteOrder.LITTLE_ENDIAN);
    return address -> address < FUNCTION ? 0 : bytes.getLong((int) (address - FUNCTION));
  }
}
