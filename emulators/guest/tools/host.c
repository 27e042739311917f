// Programs of the zoo natively, by the host's compiler: `host PROGRAM [ARGUMENT]`. What other tracers are measured on
// (`retstack bench --peers`).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "zoo.h"

extern const struct zoo_program __start_zoo_programs[], __stop_zoo_programs[];

int main(int argc, char **argv) {
  if (argc < 2) {
    fprintf(stderr, "usage: host PROGRAM [ARGUMENT]\n");
    return 2;
  }
  for (const struct zoo_program *p = __start_zoo_programs; p < __stop_zoo_programs; p++) {
    if (strcmp(p->name, argv[1]) == 0) return p->run(argc > 2 ? atol(argv[2]) : p->argument);
  }
  fprintf(stderr, "host: no program %s\n", argv[1]);
  return 2;
}
