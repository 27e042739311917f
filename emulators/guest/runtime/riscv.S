// Guest runtime, riscv64 and riscv32.
//
// ABI card (RISC-V ELF psABI, "Integer Calling Convention" and "Hardware Floating-point Calling
// Convention", lp64d and ilp32d):
//   arguments      a0-a7, fa0-fa7; variadic doubles in integer registers (rv32: in even pairs)
//   results        a0 a1, fa0 fa1, memory at a0
//   callee-saved   s0 (frame pointer) - s11, sp, fs0-fs11; ra = return address; gp and tp are fixed
//   stack          sp is a multiple of 16
//   frame          with -fno-omit-frame-pointer: s0 = caller's sp, return address at -8(s0), caller's s0 at -16(s0);
//                  rv32: at -4(s0) and -8(s0)
//                  (a variadic function puts its register arguments above, s0 is lower than the caller's sp)
//   system call    number in a7, arguments a0-a5, result in a0
//
// Counting function (gcc -pg):
//   _mcount        called behind the prologue, a0 = parent's return address (also at the frame's slot);
//                  an ordinary call, the compiler saved the argument registers before

#if __riscv_xlen == 64
#define LOAD    ld
#define STORE   sd
#define WORD    8
#else
#define LOAD    lw
#define STORE   sw
#define WORD    4
#endif

        .text

        .globl  _start
        .type   _start, @function
_start:
        .option push
        .option norelax                 // relaxed, this would use the gp that it sets
        la      gp, __global_pointer$
        .option pop
        li      s0, 0                   // the outermost frame
        li      ra, 0
        li      a0, 0
        li      a1, 0
        beqz    sp, 1f
        LOAD    a0, 0(sp)               // a Linux-style stack: argc, argv[0] ...
        addi    a1, sp, WORD
        j       2f
1:      la      sp, __stack_top         // no stack given: our own, no arguments
2:      andi    sp, sp, -16
        call    main
        li      a7, 93                  // exit
        ecall
        ebreak
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, @function
zoo_write:
        li      a7, 64
        ecall
        ret
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, @function
zoo_call_preserving_frame:
        addi    sp, sp, -16             // found again by sp, never by s0
        STORE   ra, WORD(sp)
        STORE   s0, 0(sp)
        mv      t0, a0
        mv      a0, a1
        jalr    t0
        LOAD    s0, 0(sp)
        LOAD    ra, WORD(sp)
        addi    sp, sp, 16
        ret
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): ra sp s0-s11 fs0-fs11
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
zoo_setjmp:
        STORE   ra, 0*WORD(a0)
        STORE   sp, 1*WORD(a0)
        STORE   s0, 2*WORD(a0)
        STORE   s1, 3*WORD(a0)
        STORE   s2, 4*WORD(a0)
        STORE   s3, 5*WORD(a0)
        STORE   s4, 6*WORD(a0)
        STORE   s5, 7*WORD(a0)
        STORE   s6, 8*WORD(a0)
        STORE   s7, 9*WORD(a0)
        STORE   s8, 10*WORD(a0)
        STORE   s9, 11*WORD(a0)
        STORE   s10, 12*WORD(a0)
        STORE   s11, 13*WORD(a0)
        fsd     fs0, 112(a0)
        fsd     fs1, 120(a0)
        fsd     fs2, 128(a0)
        fsd     fs3, 136(a0)
        fsd     fs4, 144(a0)
        fsd     fs5, 152(a0)
        fsd     fs6, 160(a0)
        fsd     fs7, 168(a0)
        fsd     fs8, 176(a0)
        fsd     fs9, 184(a0)
        fsd     fs10, 192(a0)
        fsd     fs11, 200(a0)
        li      a0, 0
        ret
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, @function
zoo_longjmp:
        LOAD    ra, 0*WORD(a0)
        LOAD    sp, 1*WORD(a0)
        LOAD    s0, 2*WORD(a0)
        LOAD    s1, 3*WORD(a0)
        LOAD    s2, 4*WORD(a0)
        LOAD    s3, 5*WORD(a0)
        LOAD    s4, 6*WORD(a0)
        LOAD    s5, 7*WORD(a0)
        LOAD    s6, 8*WORD(a0)
        LOAD    s7, 9*WORD(a0)
        LOAD    s8, 10*WORD(a0)
        LOAD    s9, 11*WORD(a0)
        LOAD    s10, 12*WORD(a0)
        LOAD    s11, 13*WORD(a0)
        fld     fs0, 112(a0)
        fld     fs1, 120(a0)
        fld     fs2, 128(a0)
        fld     fs3, 136(a0)
        fld     fs4, 144(a0)
        fld     fs5, 152(a0)
        fld     fs6, 160(a0)
        fld     fs7, 168(a0)
        fld     fs8, 176(a0)
        fld     fs9, 184(a0)
        fld     fs10, 192(a0)
        fld     fs11, 200(a0)
        seqz    a0, a1
        add     a0, a0, a1              // 0 is reported as 1, as C asks
        ret
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 16 bytes of its own each.
#ifdef ZOO_COUNTING
        .p2align 4
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, @function
ZOO_COUNTING:
        ret
        .p2align 4
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", @progbits
