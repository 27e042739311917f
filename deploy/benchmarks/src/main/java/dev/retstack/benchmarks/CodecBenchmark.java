package dev.retstack.benchmarks;

import dev.retstack.schema.chunk.Codecs;
import dev.retstack.schema.codec.ChunkCodec;
import dev.retstack.schema.codec.CorruptChunkException;
import dev.retstack.schema.record.RecordBatch;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Packing and unpacking; nanoseconds per record. */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@OperationsPerInvocation(Series.RECORDS)
public class CodecBenchmark {
  @Param({"packed", "records"})
  public String codec;

  @Param({"w200", "fib"})
  public String workload;

  private final List<byte[]> payloads = new ArrayList<>();
  private final RecordBatch into = new RecordBatch(Series.RECORDS);
  private ChunkCodec packer;
  private List<RecordBatch> batches;
  private int next;

  @Setup
  public void record() throws IOException, InterruptedException, CorruptChunkException {
    packer = Codecs.byId(codec);
    batches = Series.of(workload).batches();
    payloads.clear();
    batches.forEach(batch -> payloads.add(packer.encode(batch)));
  }

  @Benchmark
  public byte[] encode() {
    return packer.encode(batches.get(turn()));
  }

  @Benchmark
  public RecordBatch decode() throws CorruptChunkException {
    packer.decode(payloads.get(turn()), Series.RECORDS, into);
    return into;
  }

  private int turn() {
    next = next + 1 < batches.size() ? next + 1 : 0;
    return next;
  }
}
