package dev.retstack.graph.totals;

import dev.retstack.graph.input.ClockUnit;
import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** What one {@link CallProfile} adds up: calls of one image in one session, in one unit. */
public record ProfileKey(String session, String imageId, ClockUnit unit) {
  public void writeTo(DataOutput out) throws IOException {
    Fields.writeText(out, session);
    Fields.writeText(out, imageId);
    Fields.writeText(out, unit.name());
  }

  public static ProfileKey readFrom(DataInput in) throws IOException {
    return new ProfileKey(
        Fields.readText(in), Fields.readText(in), Fields.readEnum(in, ClockUnit.class));
  }
}
