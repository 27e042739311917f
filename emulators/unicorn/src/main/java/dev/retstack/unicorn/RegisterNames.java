package dev.retstack.unicorn;

import java.lang.reflect.Field;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BinaryOperator;

/** Names of registers for human readers, as the headers of Unicorn have them. */
public final class RegisterNames {
  private static final Map<Integer, Class<?>> CONSTANTS =
      Map.of(
          UcConst.UC_ARCH_ARM, ArmConst.class,
          UcConst.UC_ARCH_ARM64, Arm64Const.class,
          UcConst.UC_ARCH_MIPS, MipsConst.class,
          UcConst.UC_ARCH_X86, X86Const.class,
          UcConst.UC_ARCH_PPC, PpcConst.class,
          UcConst.UC_ARCH_SPARC, SparcConst.class,
          UcConst.UC_ARCH_M68K, M68kConst.class,
          UcConst.UC_ARCH_RISCV, RiscvConst.class,
          UcConst.UC_ARCH_S390X, S390xConst.class);

  private static final Comparator<String> ABI_NAME_FIRST =
      Comparator.comparingLong((String name) -> name.chars().filter(Character::isDigit).count())
          .thenComparing(Comparator.naturalOrder());

  private static final Map<Integer, Map<Integer, String>> KNOWN = new ConcurrentHashMap<>();

  private RegisterNames() {}

  /**
   * The name of a register in lower case. Where it has several, the one with the fewest digits:
   * that is the ABI's.
   *
   * @param arch {@code UC_ARCH_*}
   * @param register {@code UC_*_REG_*}
   */
  public static String of(int arch, int register) {
    String name =
        KNOWN
            .computeIfAbsent(arch, RegisterNames::names)
            .getOrDefault(register, "register " + register);
    return Character.isDigit(name.charAt(0)) ? "r" + name : name;
  }

  private static Map<Integer, String> names(int arch) {
    Map<Integer, String> names = new HashMap<>();
    for (Field field : CONSTANTS.getOrDefault(arch, RegisterNames.class).getFields()) {
      int name = field.getName().indexOf("_REG_");
      if (name > 0 && field.getType() == int.class) {
        try {
          String text = field.getName().substring(name + "_REG_".length()).toLowerCase(Locale.ROOT);
          names.merge(field.getInt(null), text, BinaryOperator.minBy(ABI_NAME_FIRST));
        } catch (IllegalAccessException e) {
          throw new IllegalStateException("constants are public", e);
        }
      }
    }
    return names;
  }
}
