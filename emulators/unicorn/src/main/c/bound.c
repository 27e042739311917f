/*
 * Bounds the blocks of code that libunicorn translates.
 *
 * Its translators leave one or two temporaries behind per instruction (mips: each instruction; x86, riscv, m68k: some),
 * and a block may have 512 instructions, for which there is no room: the translator then writes over its own lists, and
 * the process dies. libunicorn has no limit to set, but it calls each translator by its exported name. This library is
 * loaded ahead of it, so the call comes here first.
 */
#include <stddef.h>

typedef void translator(void *cpu, void *block, int most);

/* Half of what overflows with two temporaries per instruction. */
enum { MOST = 128 };

#define EACH(X) \
  X(gen_intermediate_code) /* s390x */ \
  X(gen_intermediate_code_aarch64) \
  X(gen_intermediate_code_arm) \
  X(gen_intermediate_code_m68k) \
  X(gen_intermediate_code_mips) \
  X(gen_intermediate_code_mips64) \
  X(gen_intermediate_code_mips64el) \
  X(gen_intermediate_code_mipsel) \
  X(gen_intermediate_code_ppc) \
  X(gen_intermediate_code_ppc64) \
  X(gen_intermediate_code_riscv32) \
  X(gen_intermediate_code_riscv64) \
  X(gen_intermediate_code_sparc) \
  X(gen_intermediate_code_sparc64) \
  X(gen_intermediate_code_tricore) \
  X(gen_intermediate_code_x86_64)

/* Plain calls: a translator may leave by longjmp. */
#define BOUND(name) \
  static translator *name##_real; \
  void name(void *cpu, void *block, int most); \
  void name(void *cpu, void *block, int most) { name##_real(cpu, block, most < MOST ? most : MOST); }
EACH(BOUND)

/* Java fills in the real ones, by name. */
#define ENTRY(name) {#name, &name##_real},
const struct {
  const char *name;
  translator **real;
} retstack_bounded[] = {EACH(ENTRY){NULL, NULL}};
