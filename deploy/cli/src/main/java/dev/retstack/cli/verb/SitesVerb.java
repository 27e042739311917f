package dev.retstack.cli.verb;

import dev.retstack.answers.table.Document;
import dev.retstack.answers.table.Table;
import dev.retstack.cli.command.CommandException;
import dev.retstack.cli.command.ExitCode;
import dev.retstack.cli.command.FormatOption;
import dev.retstack.cli.command.Output;
import dev.retstack.cli.command.Verb;
import dev.retstack.cli.fleet.GuestImages;
import dev.retstack.graph.check.Count;
import dev.retstack.machine.loader.FoundSite;
import dev.retstack.machine.loader.FoundSite.State;
import dev.retstack.machine.loader.LoadedImage;
import dev.retstack.machine.loader.SiteFinder;
import dev.retstack.machine.loader.elf.ElfFormatException;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack sites}: the call sites of an image, and what stands there. */
@Command(
    name = "sites",
    description = {
      "List the call sites of an image.",
      "Each has its function, its address, what stands there (a call of the counting"
          + " function, or nops where one may be put), its bytes, and what names it as a site:",
      "  mcount_loc  the table __mcount_loc (-mrecord-mcount)",
      "  patchable   __patchable_function_entries (-fpatchable-function-entry)",
      "  relocation  no table: a relocation of the code against the counting function",
      "  scan        neither: the code calls the counting function there",
      "The last column says where the function is entered: at the site; at its first"
          + " instruction, if the code in between is not read; or untraced, if no symbol says"
          + " where that is.",
      "In an object that is not linked (.o, .ko), an address is section+offset. Objects"
          + " have relocations, and so have programs that were linked with --emit-relocs.",
      "Exit code 3: the file is not a program, is of an ISA that is not traced, or has no"
          + " site."
    },
    footer = {
      "  retstack sites zoo-s390x-mcount-nop",
      "  retstack sites zoo-x86_64-fentry --function 'w200_1*' --format csv"
    })
public final class SitesVerb extends Verb {
  @Parameters(
      index = "0",
      paramLabel = "IMAGE",
      description = "An ELF program or object, or an image of the zoo by its name.")
  private String image;

  @Option(
      names = "--function",
      paramLabel = "GLOB",
      description =
          "Only sites of functions of which a name matches, aliases too: * any text, ? a letter,"
              + " {a,b}, [a-z].")
  private String glob;

  @Mixin private FormatOption format;

  @Override
  protected int run() throws Exception {
    Path file = GuestImages.resolve(image);
    LoadedImage loaded = GuestImages.loadUnlinked(file);
    List<FoundSite> sites = SiteFinder.find(loaded);
    if (sites.isEmpty()) {
      throw CommandException.badInput(none(loaded), null);
    }
    List<FoundSite> wanted = sites;
    if (glob != null) {
      PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
      wanted =
          sites.stream()
              .filter(site -> site.names().is(name -> matcher.matches(Path.of(name))))
              .toList();
    }
    Output.write(out(), format.format(), document(loaded, wanted));
    note(summary(loaded, wanted, sites.size()));
    loaded.notes().forEach(this::note);
    return ExitCode.OK;
  }

  private static String none(LoadedImage image) {
    try {
      image.requireCallSites();
      return "no call sites in " + image.elf().name();
    } catch (ElfFormatException e) {
      return e.getMessage();
    }
  }

  private static Document document(LoadedImage image, List<FoundSite> sites) {
    Table<FoundSite> columns =
        new Table<FoundSite>()
            .text("address", site -> place(image, site.address()))
            .text("function", site -> new Table.Shown(site.function(), name(site)))
            .onlyJson("offset", FoundSite::offset)
            .text("convention", FoundSite::convention)
            .text("state", site -> site.state().toString())
            .text("form", FoundSite::form)
            .onlyJson("start", site -> place(image, site.start()))
            .text("bytes", site -> bytes(site.bytes().toByteArray()))
            .text("source", site -> site.knowledge().toString())
            .text("entered", site -> site.entered().toString())
            .onlyJson("tableEntry", site -> place(image, site.tableEntry()))
            .headedAsNamed();
    return new Document()
        .indented()
        .field("image", image.elf().name())
        .field("buildId", image.elf().buildId())
        .field("isa", image.isa().name())
        .table("sites", columns, sites);
  }

  private static String name(FoundSite site) {
    if (site.function().isEmpty()) {
      return "?";
    }
    return site.offset() == 0 ? site.function() : "%s%+d".formatted(site.function(), site.offset());
  }

  private static Table.Shown bytes(byte[] bytes) {
    return new Table.Shown(
        HexFormat.of().formatHex(bytes), HexFormat.ofDelimiter(" ").formatHex(bytes));
  }

  /** An address, or of an object {@code section+offset}. */
  private static String place(LoadedImage image, long address) {
    return image
        .elf()
        .place(address)
        .map(section -> "%s+0x%x".formatted(section.name(), address - section.address()))
        .orElseGet(() -> "0x" + Long.toHexString(address));
  }

  private static String summary(LoadedImage image, List<FoundSite> sites, int all) {
    Map<State, Long> states =
        sites.stream()
            .collect(
                Collectors.groupingBy(
                    FoundSite::state, () -> new EnumMap<>(State.class), Collectors.counting()));
    String what =
        states.entrySet().stream()
            .map(entry -> entry.getValue() + " " + entry.getKey())
            .collect(Collectors.joining(", "));
    long functions = sites.stream().map(FoundSite::function).distinct().count();
    return "%s (%s): %d of %s, in %s%s"
        .formatted(
            image.elf().name(),
            image.isa().name(),
            sites.size(),
            Count.of(all, "site"),
            Count.of(functions, "function"),
            what.isEmpty() ? "" : ": " + what);
  }
}
