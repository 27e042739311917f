package dev.retstack.service.identity;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.retstack.schema.Node;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.ByteBuffer;

/**
 * What a member says of itself, signed: nobody else can say that it answers elsewhere. Whether the
 * key is a member's, the {@link GroupRoll} says.
 */
public final class SignedNode {
  private SignedNode() {}

  /** The node with this key and its signature. */
  public static Node of(Node node, MemberKey key) {
    byte[] signature = key.sign(content(node));
    return Node.newBuilder(node)
        .setKey(ByteBuffer.wrap(key.open()))
        .setSignature(ByteBuffer.wrap(signature))
        .build();
  }

  /** Whether it has an address, and the holder of its key says so. */
  public static boolean isSound(Node node) {
    return hasAddress(node)
        && MemberKey.isSigned(bytes(node.getKey()), content(node), bytes(node.getSignature()));
  }

  /** Digest that identifies the node's key. */
  public static String digest(Node node) {
    return MemberKey.digest(bytes(node.getKey()));
  }

  static byte[] bytes(ByteBuffer buffer) {
    byte[] bytes = new byte[buffer.remaining()];
    buffer.duplicate().get(bytes);
    return bytes;
  }

  private static boolean hasAddress(Node node) {
    try {
      URI url = new URI(node.getUrl());
      return url.getHost() != null
          && ("http".equals(url.getScheme()) || "https".equals(url.getScheme()));
    } catch (URISyntaxException _) {
      return false;
    }
  }

  private static byte[] content(Node node) {
    StringBuilder content = new StringBuilder("retstack-node");
    field(node.getNode(), content);
    field(node.getUrl(), content);
    field(node.getGroup(), content);
    node.getRoles().forEach(role -> field(role, content));
    field(Long.toString(node.getStartedAt()), content);
    return content.toString().getBytes(UTF_8);
  }

  /** With its length, so that no two contents are the same text. */
  private static void field(String text, StringBuilder content) {
    content.append(' ').append(text.length()).append(':').append(text);
  }
}
