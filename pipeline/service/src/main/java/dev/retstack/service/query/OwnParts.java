package dev.retstack.service.query;

import static org.apache.pekko.http.javadsl.server.Directives.complete;
import static org.apache.pekko.http.javadsl.server.Directives.extractRequest;
import static org.apache.pekko.http.javadsl.server.Directives.parameterMap;

import dev.retstack.answers.http.Access;
import dev.retstack.answers.http.Endpoint;
import dev.retstack.answers.http.HeapRoom;
import dev.retstack.answers.http.QueryGate;
import dev.retstack.service.identity.AnswerSeal;
import dev.retstack.service.identity.Handshake;
import dev.retstack.service.nodes.NodeFeed;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.ContentType;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpEntities;
import org.apache.pekko.http.javadsl.model.HttpHeader;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.server.Route;
import org.apache.pekko.stream.javadsl.Source;
import org.apache.pekko.util.ByteString;

/** Gives other members the partitions of this one, as a stream of bytes ({@link PartStream}). */
final class OwnParts {
  private static final ContentType BYTES = ContentTypes.APPLICATION_OCTET_STREAM;
  private static final int PEERS_MAX = 64;

  /** Parts of one answer that may be on their way at once: one being sent, one being made. */
  private static final int AHEAD = 2;

  private final Queries queries;
  private final HeapRoom room;
  private final NodeFeed nodes;

  // a separate gate: two members that ask each other must not wait for each other
  private final QueryGate peers =
      new QueryGate("questions of members", PEERS_MAX, new AtomicInteger());

  OwnParts(Queries queries, HeapRoom room, NodeFeed nodes) {
    this.queries = queries;
    this.room = room;
    this.nodes = nodes;
  }

  /** What it answers to another member. */
  Route route() {
    return extractRequest(
        request ->
            parameterMap(
                parameters ->
                    answer(parameters, new PartStream.Writer(seal(request), nodes::sign))));
  }

  private AnswerSeal seal(HttpRequest request) {
    String challenge = request.getHeader(Handshake.CHALLENGE).map(HttpHeader::value).orElse("");
    return nodes.seal(challenge, Access.question(request.getUri()));
  }

  private Route answer(Map<String, String> parameters, PartStream.Writer to) {
    Endpoint.PARTS_OF.check(parameters);
    Part.Kind kind =
        Part.Kind.valueOf(parameters.getOrDefault("what", "cores").toUpperCase(Locale.ROOT));
    Part.Wanted wanted =
        new Part.Wanted(
            kind, parameters.getOrDefault("core", ""), parameters.getOrDefault("session", ""));
    return complete(
        HttpResponse.create().withEntity(HttpEntities.createChunked(BYTES, parts(wanted, to))));
  }

  /** The head goes out at once, so that the caller knows that this member runs. */
  private Source<ByteString, NotUsed> parts(Part.Wanted wanted, PartStream.Writer to) {
    Source<ByteString, NotUsed> counted =
        peers.stream(
            () -> {
              HeapRoom.Share share = room.share();
              return parts(wanted, share, to)
                  .watchTermination(
                      (_, done) -> {
                        done.whenComplete((_, _) -> share.close());
                        return NotUsed.getInstance();
                      });
            });
    return Source.single(ByteString.fromArrayUnsafe(to.head()))
        .concat(counted)
        .concatLazy( // it is signed behind all parts, and not fetched ahead
            Source.lazySource(() -> Source.from(to.end()))
                .map(ByteString::fromArrayUnsafe)
                .mapMaterializedValue(_ -> NotUsed.getInstance()));
  }

  private Source<ByteString, NotUsed> parts(
      Part.Wanted wanted, HeapRoom.Share share, PartStream.Writer to) {
    Deque<Integer> ahead = new ArrayDeque<>();
    return queries
        .partStream(wanted, share, 1)
        .map(
            part -> {
              ahead.add(part.body().length);
              if (ahead.size() > AHEAD) {
                share.giveBack(ahead.remove());
              }
              return part;
            })
        .mapConcat(to::part)
        .map(ByteString::fromArrayUnsafe)
        .filterNot(ByteString::isEmpty);
  }
}
