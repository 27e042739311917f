package dev.retstack.graph.aggregate;

import dev.retstack.graph.snapshot.Fields;
import java.io.DataInput;
import java.io.DataOutput;
import java.io.IOException;

/** The system call that began last on one ret_stack. */
final class OpenSystemCall {
  int row = CallTreeLog.NONE;
  long number;
  long since;

  /** Of the core's time not the stack's own, when it began. */
  long notRun;

  void writeTo(DataOutput out) throws IOException {
    out.writeInt(row);
    out.writeLong(number);
    out.writeLong(since);
    out.writeLong(notRun);
  }

  void readFrom(DataInput in, int rows) throws IOException {
    row = Fields.readRow(in, rows);
    number = in.readLong();
    since = in.readLong();
    notRun = in.readLong();
  }
}
