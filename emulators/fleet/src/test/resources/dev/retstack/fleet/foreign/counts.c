/*
 * A plugin of qemu-user: how often each of some instructions was executed.
 *
 *   qemu-ISA -plugin counts.so,places=FILE,out=FILE program
 *
 * The first line of "places" is where the program's first executable segment begins in its file, each further one the
 * address of an instruction there; all in hexadecimal. "out" gets a line for each that was executed: address and count.
 *
 * Debian has no header of the interface, so what is used of it is declared here: version 1, of QEMU 4.2 to 8.2.
 */
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

struct block;
struct instruction;
typedef void on_block(uint64_t plugin, struct block *block);
typedef void on_execution(unsigned processor, void *data);
typedef void on_end(uint64_t plugin, void *data);

void qemu_plugin_register_vcpu_tb_trans_cb(uint64_t plugin, on_block *callback);
void qemu_plugin_register_vcpu_insn_exec_cb(struct instruction *instruction, on_execution *callback, int flags,
                                            void *data);
void qemu_plugin_register_atexit_cb(uint64_t plugin, on_end *callback, void *data);
size_t qemu_plugin_tb_n_insns(const struct block *block);
struct instruction *qemu_plugin_tb_get_insn(const struct block *block, size_t index);
uint64_t qemu_plugin_insn_vaddr(const struct instruction *instruction);
uint64_t qemu_plugin_start_code(void);

EXPORT int qemu_plugin_version = 1;

struct place {
    uint64_t address;
    uint64_t count;
};

static uint64_t code;
static struct place *places;
static size_t known;
static const char *out;

static int by_address(const void *one, const void *other)
{
    uint64_t left = ((const struct place *)one)->address;
    uint64_t right = ((const struct place *)other)->address;
    return left < right ? -1 : left > right;
}

/* Threads of the program are threads of the host. */
static void executed(unsigned processor, void *data)
{
    __atomic_fetch_add(&((struct place *)data)->count, 1, __ATOMIC_RELAXED);
}

static void translated(uint64_t plugin, struct block *block)
{
    uint64_t moved = qemu_plugin_start_code() - code;
    for (size_t i = 0; i < qemu_plugin_tb_n_insns(block); i++) {
        struct instruction *instruction = qemu_plugin_tb_get_insn(block, i);
        struct place wanted = {qemu_plugin_insn_vaddr(instruction) - moved, 0};
        struct place *found = bsearch(&wanted, places, known, sizeof wanted, by_address);
        if (found)
            qemu_plugin_register_vcpu_insn_exec_cb(instruction, executed, 0, found);
    }
}

static void ended(uint64_t plugin, void *data)
{
    FILE *file = fopen(out, "w");
    if (!file)
        return;
    for (size_t i = 0; i < known; i++)
        if (places[i].count)
            fprintf(file, "%" PRIx64 " %" PRIu64 "\n", places[i].address, places[i].count);
    fclose(file);
}

static int read_places(const char *name)
{
    FILE *file = fopen(name, "r");
    if (!file || fscanf(file, "%" SCNx64, &code) != 1)
        return -1;
    size_t room = 0;
    uint64_t address;
    while (fscanf(file, "%" SCNx64, &address) == 1) {
        if (known == room) {
            room = room * 2 + 1024;
            places = realloc(places, room * sizeof *places);
            if (!places)
                return -1;
        }
        places[known++] = (struct place){address, 0};
    }
    fclose(file);
    qsort(places, known, sizeof *places, by_address);
    return 0;
}

EXPORT int qemu_plugin_install(uint64_t plugin, const void *emulator, int count, char **arguments)
{
    const char *from = NULL;
    for (int i = 0; i < count; i++) {
        if (strncmp(arguments[i], "places=", 7) == 0)
            from = arguments[i] + 7;
        else if (strncmp(arguments[i], "out=", 4) == 0)
            out = arguments[i] + 4;
    }
    if (!from || !out || read_places(from))
        return -1;
    qemu_plugin_register_vcpu_tb_trans_cb(plugin, translated);
    qemu_plugin_register_atexit_cb(plugin, ended, NULL);
    return 0;
}
