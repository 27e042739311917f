package dev.retstack.graph.symbol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.symbol.SymbolTable.Symbol;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.Test;

class SymbolTableTest {
  private static final SymbolTable TABLE =
      SymbolTable.of(
          List.of(
              new Symbol("kernel", 0xffff_ffff_8000_0000L, 0x10),
              new Symbol("main", 0x1000, 0x20),
              new Symbol("alias", 0x1000, 0x10),
              new Symbol("open_ended", 0x1100, 0),
              new Symbol("after", 0x1200, 0),
              new Symbol("last", 0xffff_ffff_9000_0000L, 0)));

  @Test
  void namesWhatItCovers() {
    assertThat(TABLE.symbolPlusOffset(0x1000)).isEqualTo("main");
    assertThat(TABLE.symbolPlusOffset(0x101c)).isEqualTo("main+0x1c");
    assertThat(TABLE.name(0x101f)).isEqualTo("main");
    assertThat(TABLE.start(0x101f)).isEqualTo(0x1000);
  }

  @Test
  void addressesAreUnsigned() {
    assertThat(TABLE.symbolPlusOffset(0xffff_ffff_8000_0004L)).isEqualTo("kernel+0x4");
    assertThat(TABLE.name(0xffff_ffff_8000_0010L)).isEqualTo("0xffffffff80000010");
  }

  @Test
  void unknownSizesReachToTheNextSymbolOrABit() {
    assertThat(TABLE.name(0x11ff)).isEqualTo("open_ended");
    assertThat(TABLE.name(0x1200)).isEqualTo("after");
    assertThat(TABLE.name(0xffff_ffff_9000_0fffL)).isEqualTo("last");
    assertThat(TABLE.covers(0xffff_ffff_9000_1000L)).isFalse();
  }

  @Test
  void whatNoSymbolCoversIsANumber() {
    assertThat(TABLE.name(0xfff)).isEqualTo("0xfff");
    assertThat(TABLE.symbolPlusOffset(0x1020)).isEqualTo("0x1020");
    assertThat(TABLE.start(0x1020)).isEqualTo(0x1020);
    assertThat(SymbolTable.EMPTY.name(0)).isEqualTo("0x0");
  }

  @Test
  void linesGoWithTheirFunctionsThroughAState() throws Exception {
    SymbolTable lined =
        SymbolTable.of(
            List.of(
                new Symbol("two", 0x1100, 0x10, new SourceLine("lib/b.c", 3)),
                new Symbol("none", 0x1200, 0x10),
                new Symbol("one", 0x1000, 0x10, new SourceLine("a.c", 12)),
                new Symbol("three", 0x1300, 0x10, new SourceLine("a.c", 40))));
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    lined.writeTo(new DataOutputStream(bytes));
    byte[] written = bytes.toByteArray();
    SymbolTable read = SymbolTable.readFrom(new DataInputStream(new ByteArrayInputStream(written)));
    for (SymbolTable table : List.of(lined, read)) {
      assertThat(table.source(0x100f)).isEqualTo(new SourceLine("a.c", 12));
      assertThat(table.source(0x1100).text()).isEqualTo("lib/b.c:3");
      assertThat(table.source(0x1200)).isEqualTo(SourceLine.NONE);
      assertThat(table.source(0x1300).text()).isEqualTo("a.c:40");
      assertThat(table.source(0x9000).isKnown()).isFalse();
    }
    assertThat(lined.bytes()).isEqualTo(read.bytes()).isGreaterThan(TABLE.bytes());
    written[written.length - 5] = 9; // the file of the last function
    assertThatThrownBy(
            () -> SymbolTable.readFrom(new DataInputStream(new ByteArrayInputStream(written))))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 40 of source file 9");
  }

  @Test
  void oneNamePerAddressWhateverTheOrder() {
    assertThat(TABLE.size()).isEqualTo(5);
  }
}
