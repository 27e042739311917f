package dev.retstack.answers.http;

import java.time.Duration;
import org.apache.pekko.NotUsed;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.BidiShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.javadsl.BidiFlow;
import org.apache.pekko.stream.javadsl.Flow;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;
import org.apache.pekko.stream.stage.TimerGraphStageLogic;

/**
 * Closes a connection whose client does not finish a request's head in time. An idle timeout does
 * not help: a client that sends a byte now and then is never idle, and holds a connection for ever.
 */
public final class RequestDeadline
    extends GraphStage<BidiShape<HttpRequest, HttpRequest, HttpResponse, HttpResponse>> {
  /** From an answer to the end of the next request's head. */
  private static final Duration NEXT = Duration.ofSeconds(60);

  private final Inlet<HttpRequest> requestIn = Inlet.create("request.in");
  private final Outlet<HttpRequest> requestOut = Outlet.create("request.out");
  private final Inlet<HttpResponse> responseIn = Inlet.create("response.in");
  private final Outlet<HttpResponse> responseOut = Outlet.create("response.out");
  private final Duration first;

  private RequestDeadline(Duration first) {
    this.first = first;
  }

  /**
   * Puts deadlines round what answers.
   *
   * @param first from the beginning of a connection to the end of its first request's head
   */
  public static Flow<HttpRequest, HttpResponse, NotUsed> around(
      Flow<HttpRequest, HttpResponse, NotUsed> answers, Duration first) {
    return BidiFlow.fromGraph(new RequestDeadline(first)).join(answers);
  }

  @Override
  public BidiShape<HttpRequest, HttpRequest, HttpResponse, HttpResponse> shape() {
    return new BidiShape<>(requestIn, requestOut, responseIn, responseOut);
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new Logic();
  }

  private final class Logic extends TimerGraphStageLogic {
    private static final String DEADLINE = "deadline";

    /** Requests that are not answered yet: there may be several on their way. */
    private int open;

    Logic() {
      super(shape());
      setHandler(
          requestIn,
          new AbstractInHandler() {
            @Override
            public void onPush() {
              open++;
              cancelTimer(DEADLINE);
              push(requestOut, grab(requestIn));
            }

            @Override
            public void onUpstreamFinish() {
              complete(requestOut);
            }
          });
      setHandler(
          requestOut,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              pull(requestIn);
            }

            @Override
            public void onDownstreamFinish(Throwable cause) {
              cancel(requestIn, cause);
            }
          });
      setHandler(
          responseIn,
          new AbstractInHandler() {
            @Override
            public void onPush() {
              HttpResponse response = grab(responseIn);
              open--;
              // of a stream nobody here knows when it ends; the idle timeout is its bound
              if (open == 0 && response.entity().isStrict()) {
                scheduleOnce(DEADLINE, NEXT);
              }
              push(responseOut, response);
            }

            @Override
            public void onUpstreamFinish() {
              complete(responseOut);
            }
          });
      setHandler(
          responseOut,
          new AbstractOutHandler() {
            @Override
            public void onPull() {
              pull(responseIn);
            }

            @Override
            public void onDownstreamFinish(Throwable cause) {
              cancel(responseIn, cause);
            }
          });
    }

    @Override
    public void preStart() {
      scheduleOnce(DEADLINE, first);
    }

    @Override
    public void onTimer(Object key) {
      completeStage();
    }
  }
}
