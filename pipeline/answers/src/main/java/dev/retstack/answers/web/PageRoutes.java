package dev.retstack.answers.web;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.concat;
import static org.apache.pekko.http.javadsl.server.Directives.extractRequest;
import static org.apache.pekko.http.javadsl.server.Directives.path;
import static org.apache.pekko.http.javadsl.server.Directives.pathSingleSlash;

import dev.retstack.answers.http.Refusals;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.GZIPOutputStream;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpCharsets;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.MediaTypes;
import org.apache.pekko.http.javadsl.model.headers.AcceptEncoding;
import org.apache.pekko.http.javadsl.model.headers.ContentEncoding;
import org.apache.pekko.http.javadsl.model.headers.HttpEncodingRange;
import org.apache.pekko.http.javadsl.model.headers.HttpEncodings;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;
import org.apache.pekko.http.javadsl.server.PathMatcher2;
import org.apache.pekko.http.javadsl.server.PathMatchers;
import org.apache.pekko.http.javadsl.server.Route;

/**
 * The files of the pages: {@code GET /} and {@code /web/VERSION/FILE}. The version is a hash of all
 * files, so a browser keeps them for good, and asks again when one has changed. No file holds data
 * of a trace: a page asks for it over HTTP, with the token where one is needed.
 */
public final class PageRoutes {
  /** What {@code GET /} answers; it names the others. */
  private static final String INDEX = "index.html";

  /** Stands in the index for the version. */
  private static final String VERSION = "VERSION";

  /** Stands in the index for the links that fetch all modules at once, not import after import. */
  private static final String MODULES = "MODULES";

  /** The one module that a page imports when it is shown: it brings a library along. */
  private static final String LATE_MODULE = "curves.js";

  /** Files of this folder that are served, without the index. */
  static final List<String> FILES =
      List.of(
          "about.js",
          "anomalies.js",
          "api.js",
          "app.css",
          "app.js",
          "calls.js",
          "canvas.js",
          "compare.js",
          "control.js",
          "curves.js",
          "dom.js",
          "durations.js",
          "flame.js",
          "fleet.js",
          "format.js",
          "functions.js",
          "hits.js",
          "icon.svg",
          "minimap.js",
          "table.js",
          "timeline.js");

  /** Files of a library that are served beside them, and their folder in its jar. */
  static final List<String> LIBRARY = List.of("uPlot.esm.js", "uPlot.min.css");

  static final String LIBRARY_FOLDER = "/META-INF/resources/webjars/uplot/1.6.30/dist/";

  private static final String POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self';"
          + " base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

  private static final PathMatcher2<String, String> FILE =
      PathMatchers.segment("web").slash(PathMatchers.segment()).slash(PathMatchers.segment());

  /**
   * A file as it is sent.
   *
   * @param packed by gzip
   */
  @SuppressWarnings("ArrayRecordComponent") // read only, never compared nor a key
  private record File(ContentType type, byte[] plain, byte[] packed) {
    static File of(String name, byte[] plain) {
      ByteArrayOutputStream packed = new ByteArrayOutputStream();
      try (OutputStream gzip = new GZIPOutputStream(packed)) {
        gzip.write(plain);
      } catch (IOException e) {
        throw new UncheckedIOException("cannot happen in memory", e);
      }
      return new File(PageRoutes.type(name), plain, packed.toByteArray());
    }
  }

  private final Map<String, File> files = new TreeMap<>();
  private final String version;
  private final File index;

  /** Reads all files once. */
  public PageRoutes() {
    MessageDigest hash = sha256();
    FILES.forEach(name -> files.put(name, File.of(name, read(name))));
    LIBRARY.forEach(name -> files.put(name, File.of(name, read(LIBRARY_FOLDER + name))));
    files.values().forEach(file -> hash.update(file.plain()));
    byte[] template = read(INDEX);
    hash.update(template);
    version = HexFormat.of().formatHex(hash.digest(), 0, 8);
    String text = new String(template, UTF_8);
    index =
        File.of(INDEX, text.replace(MODULES, preloads()).replace(VERSION, version).getBytes(UTF_8));
  }

  /** Modules that every page needs before it can be shown. */
  static Stream<String> modules() {
    return FILES.stream().filter(name -> name.endsWith(".js") && !name.equals(LATE_MODULE));
  }

  private static String preloads() {
    return modules()
        .map(name -> "<link rel=\"modulepreload\" href=\"/web/VERSION/" + name + "\">")
        .collect(Collectors.joining("\n"));
  }

  /** The hash of all files. */
  public String version() {
    return version;
  }

  /** Answers for the pages; to be guarded as every other route is. */
  public Route routes() {
    return concat(pathSingleSlash(() -> cached(index, "no-cache")), path(FILE, this::file));
  }

  private Route file(String asked, String name) {
    File file = files.get(name);
    return file == null || !asked.equals(version)
        ? complete(
            Refusals.error(404, "no such file of this version's pages", "load the page again"))
        : cached(file, "public, max-age=31536000, immutable");
  }

  private Route cached(File file, String keep) {
    String tag = "\"" + version + "\"";
    return extractRequest(
        request -> {
          String known = request.getHeader("If-None-Match").map(HttpHeader::value).orElse("");
          HttpResponse response = HttpResponse.create();
          return complete(
              headed(
                  known.contains(tag) ? response.withStatus(304) : sent(response, file, request),
                  tag,
                  keep));
        });
  }

  /** Packed once and not for each that asks: a page begins with nearly all files. */
  private static HttpResponse sent(HttpResponse response, File file, HttpRequest request) {
    return request.getHeader(AcceptEncoding.class).filter(PageRoutes::takesGzip).isPresent()
        ? response
            .withEntity(HttpEntities.create(file.type(), file.packed()))
            .addHeader(ContentEncoding.create(HttpEncodings.GZIP))
        : response.withEntity(HttpEntities.create(file.type(), file.plain()));
  }

  private static boolean takesGzip(AcceptEncoding accepted) {
    boolean takes = false;
    for (HttpEncodingRange range : accepted.getEncodings()) {
      if (range.matches(HttpEncodings.GZIP)) {
        if (range.qValue() == 0) {
          return false;
        }
        takes = true;
      }
    }
    return takes;
  }

  private static HttpResponse headed(HttpResponse response, String tag, String keep) {
    return response.addHeaders(
        List.of(
            RawHeader.create("ETag", tag),
            RawHeader.create("Cache-Control", keep),
            RawHeader.create("Vary", "Accept-Encoding"),
            RawHeader.create("Content-Security-Policy", POLICY),
            RawHeader.create("X-Content-Type-Options", "nosniff"),
            RawHeader.create("Referrer-Policy", "no-referrer"),
            RawHeader.create("Cross-Origin-Opener-Policy", "same-origin"),
            RawHeader.create("Cross-Origin-Resource-Policy", "same-origin")));
  }

  private static ContentType type(String name) {
    return switch (name.substring(name.lastIndexOf('.') + 1)) {
      case "html" -> ContentTypes.TEXT_HTML_UTF8;
      case "css" -> MediaTypes.TEXT_CSS.toContentType(HttpCharsets.UTF_8);
      case "svg" -> MediaTypes.IMAGE_SVG_XML.toContentType();
      default -> MediaTypes.APPLICATION_JAVASCRIPT.toContentType(HttpCharsets.UTF_8);
    };
  }

  private static byte[] read(String name) {
    try (InputStream in = PageRoutes.class.getResourceAsStream(name)) {
      if (in == null) {
        throw new IllegalStateException("the jar has no page file " + name + ": build it again");
      }
      return in.readAllBytes();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // every Java has it
    }
  }
}
