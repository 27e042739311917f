package dev.retstack.graph.symbol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.retstack.graph.symbol.SymbolTable.Symbol;
import dev.retstack.schema.record.FunctionName;
import dev.retstack.testing.Seeds;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
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
    byte[] written = written(lined);
    SymbolTable read = read(written);
    for (SymbolTable table : List.of(lined, read)) {
      assertThat(table.source(0x100f)).isEqualTo(new SourceLine("a.c", 12));
      assertThat(table.source(0x1100).text()).isEqualTo("lib/b.c:3");
      assertThat(table.source(0x1200)).isEqualTo(SourceLine.NONE);
      assertThat(table.source(0x1300).text()).isEqualTo("a.c:40");
      assertThat(table.source(0x9000).isKnown()).isFalse();
    }
    assertThat(lined.bytes()).isEqualTo(read.bytes()).isGreaterThan(plain(lined).bytes());
    written[written.length - 9] = 9; // the file of the last function
    assertThatThrownBy(() -> read(written))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("line 40 of source file 9");
  }

  @Test
  void oneNamePerAddressIsShownWhateverTheOrder() {
    assertThat(TABLE.size()).isEqualTo(5);
    assertThat(TABLE.function(0x1004)).isEqualTo(new FunctionName("main", List.of("alias")));
  }

  @Test
  void otherNamesGoWithTheirFunctionsThroughAState() throws Exception {
    SymbolTable named = named();
    SymbolTable read = read(written(named));
    for (SymbolTable table : List.of(named, read)) {
      assertThat(table.name(0x100f)).isEqualTo("one");
      assertThat(table.otherNames(0x100f)).containsExactly("eins", "uno");
      assertThat(table.source(0x100f)).isEqualTo(new SourceLine("a.c", 12));
      assertThat(table.otherNames(0x1100)).isEmpty();
      assertThat(table.otherNames(0x1200)).containsExactly("drei");
      assertThat(table.otherNames(0x9000)).isEmpty();
    }
    assertThat(written(read)).isEqualTo(written(named));
    assertThat(named.bytes()).isEqualTo(read.bytes()).isGreaterThan(plain(named).bytes());
  }

  /** The same functions without lines and other names. */
  private static SymbolTable plain(SymbolTable table) {
    return SymbolTable.of(
        IntStream.range(0, table.size())
            .mapToObj(i -> 0x1000L + 0x100L * i)
            .map(address -> new Symbol(table.name(address), address, 0x10))
            .toList());
  }

  private static SymbolTable named() {
    FunctionName one = new FunctionName("one", List.of("uno", "eins"));
    return SymbolTable.of(
        List.of(
            new Symbol("two", 0x1100, 0x10),
            new Symbol(new FunctionName("three", List.of("drei")), 0x1200, 0x10, SourceLine.NONE),
            new Symbol(one, 0x1000, 0x10, new SourceLine("a.c", 12))));
  }

  @Test
  void tooManyOtherNamesInAStateAreRefused() throws Exception {
    List<String> many = IntStream.range(0, 1_000_000).mapToObj(i -> "alias_" + i).toList();
    SymbolTable bounded =
        SymbolTable.of(many.stream().map(name -> new Symbol(name, 0x1000, 0x10)).toList());
    assertThat(bounded.size()).isEqualTo(1);
    assertThat(bounded.otherNames(0x1000)).hasSize(FunctionName.OTHERS_MAX);
    byte[] written = written(named());
    ByteBuffer.wrap(written).putInt(OTHERS_OF_ONE + 4, FunctionName.OTHERS_MAX + 1);
    assertThatThrownBy(() -> read(written))
        .isInstanceOf(IOException.class)
        .hasMessageContaining("4097 other names of one function, at most 4096");
    for (int symbol : new int[] {-1, 3, 2}) { // the second stands behind it
      ByteBuffer.wrap(written).putInt(OTHERS_OF_ONE, symbol).putInt(OTHERS_OF_ONE + 4, 2);
      assertThatThrownBy(() -> read(written))
          .isInstanceOf(IOException.class)
          .hasMessageContaining("other names of symbol");
    }
  }

  /**
   * Behind three symbols, a file and three lines: the index of the first function that has some.
   */
  private static final int OTHERS_OF_ONE = 4 + 3 * (4 + 16) + 11 + 4 + 4 + 3 + 3 * 8 + 4;

  /** Changed bytes are refused, or are those of another table: nothing else is thrown. */
  @Test
  void changedBytesAreRefusedOrAnotherTable() throws Exception {
    long seed = Seeds.fresh();
    Random random = new Random(seed);
    byte[] right = written(named());
    int refused = 0;
    for (int i = 0; i < 20_000; i++) {
      byte[] changed = Arrays.copyOf(right, right.length - random.nextInt(4));
      for (int changes = random.nextInt(3); changes >= 0; changes--) {
        int from = random.nextBoolean() ? OTHERS_OF_ONE - 4 : 0; // mostly in the other names
        changed[from + random.nextInt(changed.length - from)] = (byte) random.nextInt();
      }
      try {
        SymbolTable table = read(changed);
        assertThat(read(written(table)).bytes()).as("seed %d", seed).isEqualTo(table.bytes());
      } catch (IOException e) {
        refused++;
      }
    }
    assertThat(refused).as("seed %d", seed).isBetween(5_000, 20_000);
  }

  private static byte[] written(SymbolTable table) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    table.writeTo(new DataOutputStream(bytes));
    return bytes.toByteArray();
  }

  private static SymbolTable read(byte[] written) throws IOException {
    return SymbolTable.readFrom(new DataInputStream(new ByteArrayInputStream(written)));
  }
}
