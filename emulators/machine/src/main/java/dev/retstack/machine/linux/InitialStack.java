package dev.retstack.machine.linux;

import dev.retstack.machine.loader.elf.ElfFile;
import dev.retstack.machine.memory.GuestMemory;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * The stack that a program finds at its first instruction (System V psABI, "Initial Stack and
 * Register State"; the auxiliary vector as Linux fills it).
 *
 * <pre>
 * top    execution name, environment and argument strings, platform, 16 random bytes
 *        auxiliary vector: pairs of words, ends with AT_NULL
 *        envp: pointers, ends with 0
 *        argv: pointers, ends with 0
 *        argc                                    at a multiple of 16
 * sp --> as many bytes as the ABI wants there; on most ISAs none
 * </pre>
 */
final class InitialStack {
  private static final int AT_PHDR = 3;
  private static final int AT_PHENT = 4;
  private static final int AT_PHNUM = 5;
  private static final int AT_PAGESZ = 6;
  private static final int AT_BASE = 7;
  private static final int AT_FLAGS = 8;
  private static final int AT_ENTRY = 9;
  private static final int AT_UID = 11;
  private static final int AT_EUID = 12;
  private static final int AT_GID = 13;
  private static final int AT_EGID = 14;
  private static final int AT_PLATFORM = 15;
  private static final int AT_HWCAP = 16;
  private static final int AT_CLKTCK = 17;
  private static final int AT_SECURE = 23;
  private static final int AT_RANDOM = 25;
  private static final int AT_EXECFN = 31;
  private static final int AT_SYSINFO_EHDR = 33;

  private static final int TICKS_PER_SECOND = 100;

  private final GuestMemory memory;
  private final long bottom;
  private final int gap;
  private long at;

  /**
   * @param memory with the stack mapped
   * @param bottom lowest address of the stack
   * @param top one past its highest; a multiple of 16
   * @param gap bytes between the stack pointer and argc
   */
  InitialStack(GuestMemory memory, long bottom, long top, int gap) {
    this.memory = memory;
    this.bottom = bottom;
    this.gap = gap;
    this.at = top - memory.wordBytes();
  }

  /**
   * Writes the stack.
   *
   * @param interpreter that the program starts with
   * @param kernel address of the kernel's shared object
   * @param random 16 bytes for AT_RANDOM
   * @return the stack pointer
   * @throws IllegalArgumentException where arguments and environment take more than a quarter of
   *     the stack, the limit of Linux
   */
  long write(
      ElfFile image,
      Optional<ElfFile> interpreter,
      OptionalLong kernel,
      LinuxOptions options,
      String platform,
      byte[] random) {
    requireRoom(options);
    long name = string(options.arguments().getFirst());
    List<Long> environment = new ArrayList<>();
    for (Map.Entry<String, String> e : options.environment().entrySet()) {
      environment.add(string(e.getKey() + "=" + e.getValue()));
    }
    List<Long> arguments = options.arguments().stream().map(this::string).toList();
    long platformName = string(platform);
    at = (at - random.length) & -16;
    memory.write(at, random);
    long randomBytes = at;

    List<Long> words = new ArrayList<>();
    words.add((long) arguments.size());
    words.addAll(arguments);
    words.add(0L);
    words.addAll(environment);
    words.add(0L);
    image.programHeadersAddress().ifPresent(headers -> pair(words, AT_PHDR, headers));
    pair(words, AT_PHENT, image.programHeaderBytes());
    pair(words, AT_PHNUM, image.programHeaderCount());
    pair(words, AT_PAGESZ, GuestMemory.PAGE);
    pair(words, AT_BASE, interpreter.map(ElfFile::bias).orElse(0L));
    pair(words, AT_FLAGS, 0);
    pair(words, AT_ENTRY, image.entryWord());
    pair(words, AT_UID, ProcessCalls.USER);
    pair(words, AT_EUID, ProcessCalls.USER);
    pair(words, AT_GID, ProcessCalls.USER);
    pair(words, AT_EGID, ProcessCalls.USER);
    // No optional feature is promised: programs then use what every core of the ISA has.
    pair(words, AT_HWCAP, 0);
    pair(words, AT_CLKTCK, TICKS_PER_SECOND);
    pair(words, AT_SECURE, 0);
    pair(words, AT_PLATFORM, platformName);
    pair(words, AT_RANDOM, randomBytes);
    pair(words, AT_EXECFN, name);
    kernel.ifPresent(object -> pair(words, AT_SYSINFO_EHDR, object));
    pair(words, 0, 0);
    return put(words);
  }

  private long put(List<Long> words) {
    int word = memory.wordBytes();
    long argc = (at - (long) words.size() * word) & -16;
    for (int i = 0; i < words.size(); i++) {
      memory.writeWord(argc + (long) i * word, words.get(i));
    }
    return argc - gap;
  }

  private long string(String text) {
    byte[] bytes = (text + "\0").getBytes(StandardCharsets.UTF_8);
    at -= bytes.length;
    memory.write(at, bytes);
    return at;
  }

  private void requireRoom(LinuxOptions options) {
    long bytes = 0;
    for (String argument : options.arguments()) {
      bytes += 4L * argument.length() + 16;
    }
    for (Map.Entry<String, String> e : options.environment().entrySet()) {
      bytes += 4L * (e.getKey().length() + e.getValue().length()) + 16;
    }
    long most = (at - bottom) / 4;
    if (bytes > most) {
      throw new IllegalArgumentException(
          "arguments and environment may take %d bytes: at most %d, a quarter of the stack"
              .formatted(bytes, most));
    }
  }

  private static void pair(List<Long> words, int type, long value) {
    words.add((long) type);
    words.add(value);
  }
}
