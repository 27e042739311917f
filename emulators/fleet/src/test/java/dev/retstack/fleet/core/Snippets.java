package dev.retstack.fleet.core;

import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.loader.LoadedImage;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.HexFormat;
import java.util.List;

/**
 * Machine code that does one thing, in hex, written over the entry point of a zoo image.
 *
 * @param isa name of the ISA
 * @param storeUnmapped stores a word at the unmapped {@link #UNMAPPED}
 * @param jumpUnmapped jumps there
 * @param storeText stores a word into the image's text at 0x100000
 * @param undefined an instruction that does not exist
 * @param breakpoint a breakpoint
 * @param idle a jump to itself
 * @param halt waits for an interrupt
 * @param returnSeven returns 7 from the entry point
 * @param selfModifying writes {@code x += 1; return} to 0x20000000, calls it twice, writes {@code x
 *     += 10; return} over it, calls it, and returns x from the entry point
 * @param useAfterUnmap asks Linux to unmap the page at {@link #UNMAPPED}, then reads from it
 */
record Snippets(
    String isa,
    String storeUnmapped,
    String jumpUnmapped,
    String storeText,
    String undefined,
    String breakpoint,
    String idle,
    String halt,
    String returnSeven,
    String selfModifying,
    String useAfterUnmap) {
  static final long UNMAPPED = 0x1234_0000L;

  private static final Snippets X86_64 =
      new Snippets(
          "x86_64",
          hex("b800003412 8900"), // mov $0x12340000,%eax; mov %eax,(%rax)
          hex("b800003412 ffe0"), // ...; jmp *%rax
          hex("b800001000 8900"), // mov $0x100000,%eax; mov %eax,(%rax)
          hex("0f0b"), // ud2
          hex("cc"), // int3
          hex("ebfe"), // 1: jmp 1b
          hex("f4"), // hlt
          hex("b807000000 c3"), // mov $7,%eax; ret
          hex(
              "31c0 bb00000020" // xor %eax,%eax; mov $0x20000000,%ebx
                  + "c703ffc0c300 ffd3 ffd3" // movl $(inc %eax; ret),(%rbx); call *%rbx twice
                  + "c70383c00ac3 ffd3 c3"), // movl $(add $10,%eax; ret),(%rbx); call; ret
          // mov $11,%eax; mov $0x12340000,%edi; mov $0x1000,%esi; syscall; mov (%rdi),%eax
          hex("b80b000000 bf00003412 be00100000 0f05 8b07"));

  private static final Snippets AARCH64 =
      new Snippets(
          "aarch64",
          words(0xd2a24680, 0xf9000000), // movz x0,#0x1234,lsl 16; str x0,[x0]
          words(0xd2a24680, 0xd61f0000), // ...; br x0
          words(0xd2a00200, 0xf9000000), // movz x0,#0x10,lsl 16; str x0,[x0]
          words(0), // udf #0
          words(0xd4200000), // brk #0
          words(0x14000000), // b .
          words(0xd503207f), // wfi
          words(0xd28000e0, 0xd65f03c0), // mov x0,#7; ret
          words(
              // x1 = 0x20000000, x9 = return address, w0 = 0; w2 = add w0,w0,#1; w3 = ret
              0xd2a40001,
              0xaa1e03e9,
              0x52800000,
              0x52808002,
              0x72a22002,
              0x52807803,
              0x72bacbe3,
              // str w2,[x1]; str w3,[x1,#4]; blr x1; blr x1; w2 = add w0,w0,#10; str; blr; ret x9
              0xb9000022,
              0xb9000423,
              0xd63f0020,
              0xd63f0020,
              0x52850002,
              0x72a22002,
              0xb9000022,
              0xd63f0020,
              0xd65f0120),
          // x8 = 215; x0 = 0x12340000; x1 = 0x1000; svc #0; x2 = 0x12340000; ldr x0,[x2]
          words(0xd2801ae8, 0xd2a24680, 0xd2820001, 0xd4000001, 0xd2a24682, 0xf9400040));

  private static final Snippets RISCV64 =
      new Snippets(
          "riscv64",
          words(0x12340537, 0x00a53023), // lui a0,0x12340; sd a0,0(a0)
          words(0x12340537, 0x00050067), // ...; jr a0
          words(0x00100537, 0x00a53023), // lui a0,0x100; sd a0,0(a0)
          words(0),
          words(0x00100073), // ebreak
          words(0x0000006f), // j .
          words(0x10500073), // wfi
          words(0x00700513, 0x00008067), // li a0,7; ret
          words(
              // s1 = 0x20000000, s2 = return address, a0 = 0; t0 = addi a0,a0,1; t1 = ret
              0x200004b7,
              0x00008913,
              0x00000513,
              0x001502b7,
              0x5132829b,
              0x00008337,
              0x0673031b,
              // sw t0,0(s1); sw t1,4(s1); jalr s1; jalr s1; t0 = addi a0,a0,10; sw; jalr; jr s2
              0x0054a023,
              0x0064a223,
              0x000480e7,
              0x000480e7,
              0x00a502b7,
              0x5132829b,
              0x0054a023,
              0x000480e7,
              0x00090067),
          // a7 = 215; a0 = 0x12340000; a1 = 0x1000; ecall; a0 = 0x12340000; ld a0,0(a0)
          words(0x0d700893, 0x12340537, 0x000015b7, 0x00000073, 0x12340537, 0x00053503));

  private static final Snippets RISCV32 =
      new Snippets(
          "riscv32",
          words(0x12340537, 0x00a52023), // lui a0,0x12340; sw a0,0(a0)
          words(0x12340537, 0x00050067), // ...; jr a0
          words(0x00100537, 0x00a52023), // lui a0,0x100; sw a0,0(a0)
          words(0),
          words(0x00100073), // ebreak
          words(0x0000006f), // j .
          words(0x10500073), // wfi
          words(0x00700513, 0x00008067), // li a0,7; ret
          words(
              // s1 = 0x20000000, s2 = return address, a0 = 0; t0 = addi a0,a0,1; t1 = ret
              0x200004b7,
              0x00008913,
              0x00000513,
              0x001502b7,
              0x51328293,
              0x00008337,
              0x06730313,
              // sw t0,0(s1); sw t1,4(s1); jalr s1; jalr s1; t0 = addi a0,a0,10; sw; jalr; jr s2
              0x0054a023,
              0x0064a223,
              0x000480e7,
              0x000480e7,
              0x00a502b7,
              0x51328293,
              0x0054a023,
              0x000480e7,
              0x00090067),
          // a7 = 215; a0 = 0x12340000; a1 = 0x1000; ecall; a0 = 0x12340000; lw a0,0(a0)
          words(0x0d700893, 0x12340537, 0x000015b7, 0x00000073, 0x12340537, 0x00052503));

  private static final Snippets ARM =
      new Snippets(
          "arm",
          words(0xe3000000, 0xe3410234, 0xe5800000), // movw r0,#0; movt r0,#0x1234; str r0,[r0]
          words(0xe3000000, 0xe3410234, 0xe12fff10), // ...; bx r0
          words(0xe3000000, 0xe3400010, 0xe5800000), // movw r0,#0; movt r0,#0x10; str r0,[r0]
          words(0xe7f000f0), // udf #0
          words(0xe1200070), // bkpt #0
          words(0xeafffffe), // b .
          words(0xe320f003), // wfi
          words(0xe3a00007, 0xe12fff1e), // mov r0,#7; bx lr
          words(
              // r1 = 0x20000000, r9 = return address, r0 = 0; r2 = add r0,r0,#1; r3 = bx lr
              0xe3001000,
              0xe3421000,
              0xe1a0900e,
              0xe3a00000,
              0xe3002001,
              0xe34e2280,
              0xe30f3f1e,
              0xe34e312f,
              // str r2,[r1]; str r3,[r1,#4]; blx r1; blx r1; r2 = add r0,r0,#10; str; blx r1; bx r9
              0xe5812000,
              0xe5813004,
              0xe12fff31,
              0xe12fff31,
              0xe300200a,
              0xe34e2280,
              0xe5812000,
              0xe12fff31,
              0xe12fff19),
          words(
              // r7 = 91; r0 = 0x12340000; r1 = 0x1000; svc #0; r0 = 0x12340000; ldr r0,[r0]
              0xe3a0705b,
              0xe3000000,
              0xe3410234,
              0xe3a01a01,
              0xef000000,
              0xe3000000,
              0xe3410234,
              0xe5900000));

  static List<Snippets> all() {
    return List.of(X86_64, AARCH64, RISCV64, RISCV32, ARM);
  }

  /** Runs code from the entry point of the zoo image of this ISA. */
  CoreEnding run(String code, CoreOptions options) {
    byte[] bytes = HexFormat.of().parseHex(code);
    LoadedImage image =
        Zoo.images().stream().filter(i -> i.isa().name().equals(isa)).findFirst().orElseThrow();
    return Run.of(
            image, options, 1_000_000, core -> core.engine().mem_write(image.elf().entry(), bytes))
        .ending();
  }

  @Override
  public String toString() {
    return isa;
  }

  private static String hex(String text) {
    return text.replace(" ", "");
  }

  /** 32-bit little-endian instructions. */
  private static String words(int... words) {
    ByteBuffer bytes = ByteBuffer.allocate(4 * words.length).order(ByteOrder.LITTLE_ENDIAN);
    for (int word : words) {
      bytes.putInt(word);
    }
    return HexFormat.of().formatHex(bytes.array());
  }
}
