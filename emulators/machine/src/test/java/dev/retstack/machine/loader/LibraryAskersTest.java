package dev.retstack.machine.loader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.retstack.machine.isa.call.AbiCard;
import dev.retstack.machine.isa.call.ReturnReads;
import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.loader.elf.Symbol;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The functions of a C library that read their return address, found by their code: those that ask
 * by it who calls them are known by name, and in all the others of the library nothing is found.
 */
final class LibraryAskersTest {
  /** They are the tracer's own business, or save the address to return there. */
  private static final Set<String> OTHERS =
      Set.of(
          "_mcount",
          "__fentry__",
          "_dl_mcount_wrapper",
          "_dl_mcount_wrapper_check",
          "getcontext",
          "swapcontext",
          "setjmp",
          "_setjmp",
          "__sigsetjmp");

  /** They use the link register for another number, or leave the stack pointer unbalanced. */
  private static final Set<String> MISTAKEN =
      Set.of("__rawmemchr", "rawmemchr", "__strcoll_l", "strcoll_l", "_dl_signal_error");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/lib/x86_64-linux-gnu/libc.so.6",
        "/usr/i686-linux-gnu/lib/libc.so.6",
        "/usr/aarch64-linux-gnu/lib/libc.so.6",
        "/usr/riscv64-linux-gnu/lib/libc.so.6",
      })
  void whoAsksIsKnown(String file) throws Exception {
    assumeTrue(Files.exists(Path.of(file)), "skipped: no " + file);
    LoadedImage image = LoadedImage.load(Path.of(file));
    ElfFile elf = image.elf();
    ReturnReads reads =
        image.isa().conventions().stream()
            .filter(card -> card.siteTable() == AbiCard.SiteTable.PATCHABLE)
            .findFirst()
            .orElseThrow()
            .reads();
    Set<String> found =
        elf.functions().stream()
            .filter(f -> kind(reads, elf, f) != ReturnReads.Kind.NONE)
            .map(Symbol::name)
            .filter(name -> !OTHERS.contains(name) && !MISTAKEN.contains(name))
            .collect(Collectors.toCollection(TreeSet::new));
    LeavingFunctions leaving = LeavingFunctions.of(elf, _ -> true);
    Set<String> known =
        Stream.concat(leaving.askers().stream(), leaving.unwinders().stream())
            .map(Symbol::name)
            .collect(Collectors.toSet());
    assertThat(elf.functions()).hasSizeGreaterThan(2000);
    assertThat(known).containsAll(found);
    assertThat(found).contains("dlopen", "dlmopen", "dlsym", "dlvsym");
  }

  private static ReturnReads.Kind kind(ReturnReads reads, ElfFile elf, Symbol f) {
    return reads.of(
        elf.codeOf(f.address(), (int) f.size()), f.address(), f.address(), f.address() + f.size());
  }
}
