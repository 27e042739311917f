package dev.retstack.service.ingest;

import org.apache.pekko.stream.Attributes;
import org.apache.pekko.stream.FlowShape;
import org.apache.pekko.stream.Inlet;
import org.apache.pekko.stream.Outlet;
import org.apache.pekko.stream.stage.AbstractInHandler;
import org.apache.pekko.stream.stage.AbstractOutHandler;
import org.apache.pekko.stream.stage.GraphStage;
import org.apache.pekko.stream.stage.GraphStageLogic;

/** Takes nothing of what it could have, and ends when that ends. */
final class LeftAlone<I, O> extends GraphStage<FlowShape<I, O>> {
  private final Inlet<I> in = Inlet.create("LeftAlone.in");
  private final Outlet<O> out = Outlet.create("LeftAlone.out");
  private final FlowShape<I, O> shape = FlowShape.of(in, out);

  @Override
  public FlowShape<I, O> shape() {
    return shape;
  }

  @Override
  public GraphStageLogic createLogic(Attributes attributes) {
    return new GraphStageLogic(shape) {
      {
        setHandler(
            in,
            new AbstractInHandler() {
              @Override
              public void onPush() {
                throw new IllegalStateException("pushed without a pull");
              }
            });
        setHandler(
            out,
            new AbstractOutHandler() {
              @Override
              public void onPull() {
                // nothing is wanted
              }
            });
      }
    };
  }
}
