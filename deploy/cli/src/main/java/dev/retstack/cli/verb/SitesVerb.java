package dev.retstack.cli.verb;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.retstack.cli.CommandException;
import dev.retstack.cli.ExitCode;
import dev.retstack.cli.option.FormatOption;
import dev.retstack.cli.option.GuestImages;
import dev.retstack.cli.option.Tables;
import dev.retstack.fleet.loader.ElfFormatException;
import dev.retstack.fleet.loader.FoundSite;
import dev.retstack.fleet.loader.FoundSite.State;
import dev.retstack.fleet.loader.LoadedImage;
import dev.retstack.fleet.loader.SiteFinder;
import java.nio.file.FileSystems;
import java.nio.file.Path;
import java.nio.file.PathMatcher;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** {@code retstack sites}: where functions tell that they are entered, and what stands there. */
@Command(
    name = "sites",
    description = {
      "List the call sites of an image: the function, the address, what stands there (a call of the",
      "counting function, or nops where one may be put), its bytes, and who says that it is a site:",
      "  mcount_loc  the table __mcount_loc (-mrecord-mcount)",
      "  patchable   the table __patchable_function_entries (-fpatchable-function-entry)",
      "  relocation  no table: a relocation of the code against the counting function",
      "  scan        neither: the code calls the counting function there",
      "Of a relocatable object (.o, .ko) the address is section+offset. Relocations are there in objects,",
      "and in programs that were linked with --emit-relocs.",
      "Exit code 3 where the file is no program, of an ISA that is not traced, or without a site."
    },
    footer = {
      "  retstack sites zoo-s390x-mcount-nop",
      "  retstack sites zoo-x86_64-fentry --function 'w200_1*' --format csv"
    })
public final class SitesVerb extends Verb {
  private static final List<String> HEADER =
      List.of("address", "function", "convention", "state", "form", "bytes", "source");

  private static final HexFormat HEX = HexFormat.ofDelimiter(" ");

  @Parameters(
      index = "0",
      paramLabel = "IMAGE",
      description = "An ELF program or object, or an image of the zoo by its name.")
  private String image;

  @Option(
      names = "--function",
      paramLabel = "GLOB",
      description =
          "Only sites of functions with such a name: * any text, ? a letter, {a,b}, [a-z].")
  private String glob;

  @Mixin private FormatOption format;

  @Override
  int run() throws Exception {
    Path file = GuestImages.resolve(image);
    LoadedImage loaded = GuestImages.loadUnlinked(file);
    List<FoundSite> sites = SiteFinder.find(loaded);
    if (sites.isEmpty()) {
      throw CommandException.badInput(none(loaded), null);
    }
    List<FoundSite> wanted = sites;
    if (glob != null) {
      PathMatcher matcher = FileSystems.getDefault().getPathMatcher("glob:" + glob);
      wanted = sites.stream().filter(s -> matcher.matches(Path.of(s.function()))).toList();
    }
    switch (format.format()) {
      case TEXT -> Tables.text(out(), HEADER, rows(loaded, wanted));
      case CSV -> Tables.csv(out(), HEADER, rows(loaded, wanted));
      case JSON -> Tables.json(out(), json(loaded, wanted));
    }
    note(summary(loaded, wanted, sites.size()));
    loaded.leftAlone().ifPresent(this::note);
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

  private static List<List<String>> rows(LoadedImage image, List<FoundSite> sites) {
    List<List<String>> rows = new ArrayList<>();
    for (FoundSite site : sites) {
      rows.add(
          List.of(
              place(image, site.address()),
              name(site),
              site.convention(),
              site.state().toString(),
              site.form(),
              HEX.formatHex(site.bytes().toByteArray()),
              site.knowledge().toString()));
    }
    return rows;
  }

  private static String name(FoundSite site) {
    if (site.function().isEmpty()) {
      return "?";
    }
    return site.offset() == 0 ? site.function() : "%s%+d".formatted(site.function(), site.offset());
  }

  private static ObjectNode json(LoadedImage image, List<FoundSite> sites) {
    ObjectNode document = Tables.JSON.createObjectNode();
    document.put("image", image.elf().name());
    document.put("buildId", image.elf().buildId());
    document.put("isa", image.isa().name());
    ArrayNode all = document.putArray("sites");
    for (FoundSite site : sites) {
      ObjectNode row = all.addObject();
      row.put("address", place(image, site.address()));
      row.put("function", site.function());
      row.put("offset", site.offset());
      row.put("convention", site.convention());
      row.put("state", site.state().toString());
      row.put("form", site.form());
      row.put("start", place(image, site.start()));
      row.put("bytes", HexFormat.of().formatHex(site.bytes().toByteArray()));
      row.put("source", site.knowledge().toString());
      row.put("tableEntry", place(image, site.tableEntry()));
    }
    return document;
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
    return "%s (%s): %d of %d sites, in %d functions%s"
        .formatted(
            image.elf().name(),
            image.isa().name(),
            sites.size(),
            all,
            functions,
            what.isEmpty() ? "" : ": " + what);
  }
}
