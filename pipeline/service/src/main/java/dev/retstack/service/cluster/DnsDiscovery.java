package dev.retstack.service.cluster;

import dev.retstack.service.nodes.NodeTable;
import java.io.IOException;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Hashtable;
import java.util.List;
import java.util.OptionalInt;
import javax.naming.Context;
import javax.naming.NamingException;
import javax.naming.directory.Attribute;
import javax.naming.directory.InitialDirContext;

/**
 * Members behind a name: its addresses, where a port was given, or its service records (RFC 2782),
 * which say host and port each.
 *
 * @param server {@code dns://HOST:PORT} to ask for service records; empty for those of this machine
 */
record DnsDiscovery(String name, OptionalInt port, String server) implements Discovery {
  private static final String PATIENCE_MILLIS = "2000";

  DnsDiscovery {
    if (name.isBlank() || name.contains("/")) {
      throw new IllegalArgumentException(
          "DNS name '%s': use NAME:PORT or _SERVICE._tcp.NAME".formatted(name));
    }
  }

  /** {@code NAME:PORT} or {@code _SERVICE._tcp.NAME}. */
  static DnsDiscovery of(String text) {
    int colon = text.lastIndexOf(':');
    if (colon < 0) {
      if (!text.startsWith("_")) {
        throw new IllegalArgumentException(
            "DNS name '%s' without a port: use NAME:PORT, or _SERVICE._tcp.NAME for service records"
                .formatted(text));
      }
      return new DnsDiscovery(text, OptionalInt.empty(), "");
    }
    int port = Discovery.port(text.substring(colon + 1));
    return new DnsDiscovery(text.substring(0, colon), OptionalInt.of(port), "");
  }

  @Override
  public List<String> addresses(List<NodeTable.Announced> members) throws IOException {
    return port.isPresent() ? addresses(port.getAsInt()) : services();
  }

  private List<String> addresses(int known) throws IOException {
    List<String> found = new ArrayList<>();
    for (InetAddress one : InetAddress.getAllByName(name)) {
      found.add(one.getHostAddress() + ":" + known);
    }
    return found;
  }

  @SuppressWarnings({"BanJNDI", "JdkObsolete"}) // texts of SRV records only; it wants a Hashtable
  private List<String> services() throws IOException {
    Hashtable<String, String> settings = new Hashtable<>();
    settings.put(Context.INITIAL_CONTEXT_FACTORY, "com.sun.jndi.dns.DnsContextFactory");
    settings.put(Context.PROVIDER_URL, server.isEmpty() ? "dns:" : server);
    settings.put("com.sun.jndi.dns.timeout.initial", PATIENCE_MILLIS);
    settings.put("com.sun.jndi.dns.timeout.retries", "1");
    try {
      InitialDirContext context = new InitialDirContext(settings);
      try {
        Attribute records = context.getAttributes(name, new String[] {"SRV"}).get("SRV");
        List<String> found = new ArrayList<>();
        for (Object one : records == null ? List.of() : Collections.list(records.getAll())) {
          found.add(address(String.valueOf(one)));
        }
        return found;
      } finally {
        context.close();
      }
    } catch (NamingException e) {
      throw new IOException("no service records of " + name + ": " + e.getMessage(), e);
    }
  }

  /** Of {@code priority weight port host.}; all are asked, whatever their priority. */
  private static String address(String record) throws IOException {
    String[] words = record.split(" ", -1);
    if (words.length != 4) {
      throw new IOException("service record '%s' has not four words".formatted(record));
    }
    String host = words[3].endsWith(".") ? words[3].substring(0, words[3].length() - 1) : words[3];
    return host + ":" + words[2];
  }
}
