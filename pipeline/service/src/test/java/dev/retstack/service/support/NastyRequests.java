package dev.retstack.service.support;

import static java.nio.charset.StandardCharsets.ISO_8859_1;

import java.util.List;
import java.util.Random;

/** Requests that nobody in his right mind sends; the same seed gives the same ones. */
public final class NastyRequests {
  private static final List<String> PATHS =
      List.of(
          "/report",
          "/graph",
          "/anomalies",
          "/anomalies/events",
          "/cores",
          "/timeline",
          "/hits",
          "/about",
          "/parts",
          "/parts/own",
          "/stats",
          "/health/live",
          "/openapi.json",
          "/subjects",
          "/schemas/ids/1",
          "/nothing",
          "/");

  private static final List<String> PARAMETERS =
      List.of(
          "format", "core", "task", "limit", "offset", "unit", "kind", "depth", "what", "x", "from",
          "to", "width", "session", "match");

  private static final List<String> BAD =
      List.of(
          "%",
          "%zz",
          "%00",
          "%ff%fe",
          "%c0%ae",
          "\0",
          "\u0001",
          "\u00ff",
          "..",
          "//",
          "%2e%2e%2f",
          "<script>",
          "'",
          "\"",
          "{}",
          "|",
          "^",
          "[",
          "]",
          "\\",
          "#",
          "?",
          "&&",
          "==",
          ";",
          "*",
          "99999999999999999999",
          "-1",
          "NaN",
          "0x",
          "%u0041",
          "\t",
          " ");

  private static final List<String> METHODS =
      List.of(
          "GET", "POST", "PUT", "DELETE", "HEAD", "OPTIONS", "TRACE", "CONNECT", "PATCH", "get");

  /**
   * A request.
   *
   * @param shown its beginning, for a message
   */
  @SuppressWarnings("ArrayRecordComponent") // sent once, never compared
  public record Request(byte[] bytes, String shown) {}

  private final Random random;

  public NastyRequests(long seed) {
    random = new Random(seed);
  }

  /** The next one; all of them end, so that who reads to the end of the connection is done. */
  public Request next() {
    String text =
        switch (random.nextInt(10)) {
          case 0 -> noise(1 + random.nextInt(400));
          case 1 -> request("GET", "/" + "a".repeat(random.nextInt(9000)), "", "");
          case 2 -> request("GET", one(PATHS), giant(), "");
          case 3 -> request(one(METHODS), one(PATHS), "", "");
          case 4 -> request("GET", one(PATHS), "Content-Length: " + length() + "\r\n", noise(50));
          case 5 -> request("POST", one(PATHS), "Transfer-Encoding: chunked\r\n", chunks());
          case 6 -> cut(request("GET", target(), "", ""));
          case 7 -> pipelined();
          case 8 -> request("GET", target(), one(PARAMETERS) + one(BAD) + ": " + noise(20), "");
          default -> request("GET", target(), "", "");
        };
    byte[] bytes = text.getBytes(ISO_8859_1);
    String shown = text.length() > 300 ? text.substring(0, 300) + ".." : text;
    return new Request(bytes, shown.replaceAll("[^ -~]", "?"));
  }

  private String target() {
    StringBuilder target = new StringBuilder(one(PATHS));
    if (target.indexOf("events") >= 0) {
      target.append(one(BAD)); // a stream of events has no end
    }
    if (random.nextInt(3) == 0) {
      target.append('/').append(one(BAD));
    }
    target.append('?');
    for (int i = random.nextInt(4); i >= 0; i--) {
      target.append(one(PARAMETERS)).append(random.nextInt(5) == 0 ? "" : "=").append(one(BAD));
      target.append(i > 0 ? "&" : "");
    }
    return target.toString();
  }

  private static String request(String method, String target, String headers, String body) {
    // the stream of events is asked for with something that it refuses
    String path = target.equals("/anomalies/events") ? target + "?no=1" : target;
    return method + " " + path + " HTTP/1.1\r\nHost: localhost\r\n" + headers + "\r\n" + body;
  }

  private String giant() {
    return switch (random.nextInt(3)) {
      case 0 -> "X-Giant: " + "z".repeat(random.nextInt(100_000)) + "\r\n";
      case 1 -> "X-Many: 1\r\n".repeat(random.nextInt(500));
      default -> "n".repeat(random.nextInt(5000)) + ": 1\r\n";
    };
  }

  private String length() {
    return one(List.of("-1", "5", "99999999", "999999999999999999999", "x", "1, 2", "0x10"));
  }

  private String chunks() {
    return one(List.of(
            "5\r\nabcde\r\n", "ffffffffffff\r\n", "zz\r\n", "-5\r\n", "0\r\n\r\n", "\r\n"))
        .repeat(1 + random.nextInt(3));
  }

  private String pipelined() {
    StringBuilder all = new StringBuilder();
    for (int i = random.nextInt(20); i > 0; i--) {
      all.append(request("GET", random.nextBoolean() ? "/health/live" : one(PATHS), "", ""));
    }
    // or the connection is kept for more, whether the other half of it is closed or not
    return all + request("GET", one(PATHS), "Connection: close\r\n", "");
  }

  private String cut(String text) {
    return text.substring(0, random.nextInt(text.length()));
  }

  private String noise(int characters) {
    StringBuilder noise = new StringBuilder();
    for (int i = 0; i < characters; i++) {
      noise.append((char) random.nextInt(256));
    }
    return noise.toString();
  }

  private String one(List<String> of) {
    return of.get(random.nextInt(of.size()));
  }
}
