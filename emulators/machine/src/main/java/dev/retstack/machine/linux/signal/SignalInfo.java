package dev.retstack.machine.linux.signal;

import dev.retstack.machine.isa.system.Dialect;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.function.Consumer;

/** A signal with its {@code siginfo_t}. Source: {@code asm-generic/siginfo.h}. */
public final class SignalInfo {
  /** Size of the structure. */
  public static final int BYTES = 128;

  /** {@code si_code}: by kill, by the kernel, by sigqueue, by tkill. */
  public static final int USER = 0;

  public static final int KERNEL = 0x80;
  public static final int QUEUE = -1;
  public static final int TKILL = -6;

  /** {@code si_errno} and {@code si_code} are at 4 and 8, or at 8 and 4. */
  private static final int ERRNO_AND_CODE = 12;

  private final int signal;
  private final byte[] bytes;
  private final VirtualTimer timer;

  private SignalInfo(int signal, byte[] bytes, VirtualTimer timer) {
    this.signal = signal;
    this.bytes = bytes;
    this.timer = timer;
  }

  /** Number of the signal. */
  public int signal() {
    return signal;
  }

  /** The structure, as the program finds it. */
  public byte[] bytes() {
    return bytes.clone();
  }

  /** The timer of {@code timer_create} that sent it; null for any other. */
  VirtualTimer timer() {
    return timer;
  }

  /** Makes the structures of an ISA. */
  public record Layout(int wordBytes, ByteOrder order, Dialect.Signals numbers) {
    private SignalInfo make(int signal, int code, VirtualTimer timer, Consumer<ByteBuffer> rest) {
      byte[] bytes = new byte[BYTES];
      ByteBuffer to = ByteBuffer.wrap(bytes).order(order);
      to.putInt(0, signal).putInt(numbers.codeAt(), code);
      rest.accept(to.position(8 + wordBytes)); // pointers are aligned
      return new SignalInfo(signal, bytes, timer);
    }

    private void word(ByteBuffer to, long value) {
      if (wordBytes == Long.BYTES) {
        to.putLong(value);
      } else {
        to.putInt((int) value);
      }
    }

    /** From a process: {@code si_pid}, {@code si_uid}. */
    public SignalInfo sent(int signal, int code, long process, long user) {
      return make(signal, code, null, to -> to.putInt((int) process).putInt((int) user));
    }

    /** By a timer of {@code timer_create}: {@code si_timerid}, {@code si_overrun}, its value. */
    SignalInfo timed(VirtualTimer timer, int overrun) {
      return make(
          timer.signal,
          numbers.timerCode(),
          timer,
          to -> {
            to.putInt(timer.id).putInt(overrun);
            word(to, timer.value);
          });
    }

    /** An instruction that cannot be done: {@code si_addr}. */
    public SignalInfo fault(int signal, int code, long address) {
      return make(signal, code, null, to -> word(to, address));
    }

    /**
     * The structure as the program wrote it; the number of the signal is that of the system call.
     */
    public SignalInfo queued(int signal, byte[] written) {
      byte[] bytes = written.clone();
      ByteBuffer.wrap(bytes).order(order).putInt(0, signal);
      return new SignalInfo(signal, bytes, null);
    }

    /** The form that {@code read} of a signalfd has: {@code struct signalfd_siginfo}. */
    public byte[] read(SignalInfo info) {
      byte[] told = new byte[BYTES];
      ByteBuffer from = ByteBuffer.wrap(info.bytes).order(order);
      ByteBuffer to = ByteBuffer.wrap(told).order(order);
      int code = code(info);
      int rest = 8 + wordBytes;
      to.putInt(0, info.signal)
          .putInt(4, from.getInt(ERRNO_AND_CODE - numbers.codeAt()))
          .putInt(8, code);
      if (code == numbers.timerCode()) {
        to.putInt(24, from.getInt(rest)).putInt(32, from.getInt(rest + 4));
      } else {
        to.putInt(12, from.getInt(rest)).putInt(16, from.getInt(rest + 4));
      }
      if (code < USER && code != TKILL) {
        to.putInt(44, from.getInt(rest + 8)).putLong(48, word(from, rest + 8));
      }
      return told;
    }

    private long word(ByteBuffer from, int at) {
      return wordBytes == Long.BYTES ? from.getLong(at) : from.getInt(at) & 0xFFFF_FFFFL;
    }

    /** {@code si_code}. */
    public int code(SignalInfo info) {
      return ByteBuffer.wrap(info.bytes).order(order).getInt(numbers.codeAt());
    }
  }
}
