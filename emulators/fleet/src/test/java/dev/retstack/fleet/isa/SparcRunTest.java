package dev.retstack.fleet.isa;

import static org.assertj.core.api.Assertions.assertThat;

import dev.retstack.fleet.zoo.Run;
import dev.retstack.fleet.zoo.Zoo;
import dev.retstack.machine.isa.Isa;
import dev.retstack.machine.isa.Isas;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.schema.record.RecordBatch;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What the zoo cannot show, since its programs with structs have floating point as well. */
class SparcRunTest {
  private static final int CALL = 0x4000_0000;
  private static final int COUNTING_CALL_AT = 48;

  private static final int[] RETURNS_A_STRUCT = {
    0xa010_000f, // mov %o7,%l0
    CALL | 7, // call f
    0x0100_0000, // nop
    0x0000_0008, // unimp 8: f returns behind it
    0x9002_2001, // add %o0,1,%o0
    0x81c4_2008, // jmp %l0+8
    0x0100_0000, // nop
    0x0100_0000, // nop
    0xfc3b_a038, // f: std %fp,[%sp+56]
    0x9c03_bfa0, // add %sp,-96,%sp
    0xbc23_bfa0, // sub %sp,-96,%fp
    0xbe10_000f, // mov %o7,%i7
    CALL, // call _mcount
    0x0100_0000, // nop
    0x9010_2006, // mov 6,%o0
    0x8210_001e, // mov %fp,%g1
    0x9e10_001f, // mov %i7,%o7
    0xfc1f_a038, // ldd [%fp+56],%fp
    0x81c3_e00c, // jmp %o7+12
    0x9c10_0001, // mov %g1,%sp
  };

  private static final Isa SPARC = Isas.find("sparc").orElseThrow();

  @Test
  void aStructResultSkipsTheCallersUnimp() {
    LoadedImage image = Zoo.image(SPARC, SPARC.convention("mcount").orElseThrow());
    long entry = image.elf().entry();
    long counting = image.elf().symbol("_mcount").orElseThrow().address();
    ByteBuffer code = ByteBuffer.allocate(4 * RETURNS_A_STRUCT.length).order(SPARC.order());
    for (int word : RETURNS_A_STRUCT) {
      code.putInt(word);
    }
    int distance = (int) (counting - (entry + COUNTING_CALL_AT)) >> 2;
    code.putInt(COUNTING_CALL_AT, CALL | (distance & 0x3fff_ffff));

    Run run =
        Run.of(image, Run.options(), 1_000, core -> core.engine().mem_write(entry, code.array()));

    assertThat(run.ending().detail()).isEqualTo("entry point returned 7");
    RecordBatch r = run.records();
    assertThat(r.size()).isEqualTo(2);
    assertThat(r.kind[1]).isEqualTo(RecordBatch.EXIT);
    assertThat(r.selfPc[0]).isEqualTo(entry + COUNTING_CALL_AT);
    assertThat(r.fromPc[0]).isEqualTo(entry + 12);
    assertThat(r.retP[1]).isEqualTo(r.retP[0]);
    assertThat(r.fp[1]).isEqualTo(r.fp[0]);
    assertThat(run.instructions()).isEqualTo(3 + 6 + 6 + 3);
  }
}
