// Guest runtime, mips: o32 of either byte order, and mips64 n64. Built without abicalls: no gp, no t9.
//
// ABI card (System V ABI, MIPS RISC Processor Supplement; SGI 64-bit ELF and calling conventions for n64):
//   arguments      o32: $4-$7 (64-bit values in even pairs), $f12 $f14; the caller gives 16 bytes at sp as their home
//                  n64: $4-$11, $f12-$f19
//   results        $2 $3, $f0 $f2, memory at $4
//   callee-saved   $16-$23, $28 (gp), $29 (sp), $30 (frame pointer); o32: $f20-$f30 even, n64: $f24-$f31;
//                  $31 = return address; $15 = static chain
//   stack          sp is a multiple of 8 (o32) or 16 (n64)
//   frame          $31 and $30 are saved at the top of the frame, $31 only where the function calls: a leaf counted by
//                  -pg keeps its return address in $31 alone
//   system call    syscall, number in $2, arguments $4-$7, result in $2; $7 not 0: $2 is a positive error number
//
// Counting function (gcc -pg [-mmcount-ra-address]):
//   _mcount        called behind the prologue by move $1,$31; jal; o32 takes 8 bytes of stack in the delay slot, which
//                  _mcount must give back. Parent's return address in $1; it must be given back in $31. With
//                  -mmcount-ra-address $12 is the address of the saved $31, 0 in a leaf. Keeps all but $1 and $31

        .set    noreorder
        .set    noat

#if _MIPS_SIM == _ABI64
#define LOAD    ld
#define STORE   sd
#define ADD     daddiu
#define WORD    8
#define WRITE   5001
#define EXIT    5058
        .macro  floats operation, base
        .irp    n, 24,25,26,27,28,29,30,31
        \operation $f\n, 96+8*(\n-24)(\base)
        .endr
        .endm
#else
#define LOAD    lw
#define STORE   sw
#define ADD     addiu
#define WORD    4
#define WRITE   4004
#define EXIT    4001
        .macro  floats operation, base
        .irp    n, 20,22,24,26,28,30
        \operation $f\n, 96+4*(\n-20)(\base)
        .endr
        .endm
#endif

        .macro  saved operation, base
        .irp    n, 16,17,18,19,20,21,22,23
        \operation $\n, WORD*(\n-16)(\base)
        .endr
        \operation $29, WORD*8(\base)
        \operation $30, WORD*9(\base)
        \operation $31, WORD*10(\base)
        .endm

        .text

        .globl  _start
        .type   _start, @function
        .ent    _start
_start:
        move    $30, $0                 // the outermost frame
        move    $31, $0
        move    $4, $0
        beqz    $29, 1f
        move    $5, $0
        LOAD    $4, 0($29)              // a Linux-style stack: argc, argv[0] ...
        b       2f
        ADD     $5, $29, WORD
1:      lui     $29, %hi(__stack_top)   // no stack given: our own, no arguments
        ADD     $29, $29, %lo(__stack_top)
2:      ADD     $8, $0, -16
        and     $29, $29, $8
        jal     main
        ADD     $29, $29, -32
        move    $4, $2
        li      $2, EXIT
        syscall
        break
        .end    _start
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, @function
        .ent    zoo_write
zoo_write:
        move    $7, $0
        li      $2, WRITE
        syscall
        beqz    $7, 1f
        nop
        negu    $2, $2
1:      jr      $31
        nop
        .end    zoo_write
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, @function
        .ent    zoo_call_preserving_frame
zoo_call_preserving_frame:
        ADD     $29, $29, -48
        STORE   $31, 40($29)
        STORE   $30, 32($29)            // found again by sp, never by itself
        move    $25, $4
        jalr    $25
        move    $4, $5
        LOAD    $30, 32($29)
        LOAD    $31, 40($29)
        jr      $31
        ADD     $29, $29, 48
        .end    zoo_call_preserving_frame
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place)
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
        .ent    zoo_setjmp
zoo_setjmp:
        saved   STORE, $4
        floats  sdc1, $4
        jr      $31
        move    $2, $0
        .end    zoo_setjmp
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, @function
        .ent    zoo_longjmp
zoo_longjmp:
        saved   LOAD, $4
        floats  ldc1, $4
        bnez    $5, 1f
        move    $2, $5
        li      $2, 1                   // 0 is reported as 1, as C asks
1:      jr      $31
        nop
        .end    zoo_longjmp
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING
        .p2align 5
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, @function
        .ent    ZOO_COUNTING
ZOO_COUNTING:
#if _MIPS_SIM != _ABI64
        addiu   $29, $29, 8
#endif
        jr      $31
        move    $31, $1
        .p2align 5
        .end    ZOO_COUNTING
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", @progbits
