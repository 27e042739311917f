// Guest runtime, riscv64.
//
// ABI card (RISC-V ELF psABI, "Integer Calling Convention" and "Hardware Floating-point Calling Convention", lp64d):
//   arguments      a0-a7, fa0-fa7; variadic doubles in integer registers
//   results        a0 a1, fa0 fa1, memory at a0
//   callee-saved   s0 (frame pointer) - s11, sp, fs0-fs11; ra = return address; gp and tp are fixed
//   stack          sp is a multiple of 16
//   frame          with -fno-omit-frame-pointer: s0 = caller's sp, return address at -8(s0), caller's s0 at -16(s0)
//                  (a variadic function puts its register arguments above, s0 is lower than the caller's sp)
//   system call    number in a7, arguments a0-a5, result in a0
//
// Counting function (gcc -pg):
//   _mcount        called behind the prologue, a0 = parent's return address (also at -8(s0));
//                  an ordinary call, the compiler saved the argument registers before

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
        ld      a0, 0(sp)               // a Linux-style stack: argc, argv[0] ...
        addi    a1, sp, 8
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
        sd      ra, 8(sp)
        sd      s0, 0(sp)
        mv      t0, a0
        mv      a0, a1
        jalr    t0
        ld      s0, 0(sp)
        ld      ra, 8(sp)
        addi    sp, sp, 16
        ret
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): ra sp s0-s11 fs0-fs11
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
zoo_setjmp:
        sd      ra, 0(a0)
        sd      sp, 8(a0)
        sd      s0, 16(a0)
        sd      s1, 24(a0)
        sd      s2, 32(a0)
        sd      s3, 40(a0)
        sd      s4, 48(a0)
        sd      s5, 56(a0)
        sd      s6, 64(a0)
        sd      s7, 72(a0)
        sd      s8, 80(a0)
        sd      s9, 88(a0)
        sd      s10, 96(a0)
        sd      s11, 104(a0)
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
        ld      ra, 0(a0)
        ld      sp, 8(a0)
        ld      s0, 16(a0)
        ld      s1, 24(a0)
        ld      s2, 32(a0)
        ld      s3, 40(a0)
        ld      s4, 48(a0)
        ld      s5, 56(a0)
        ld      s6, 64(a0)
        ld      s7, 72(a0)
        ld      s8, 80(a0)
        ld      s9, 88(a0)
        ld      s10, 96(a0)
        ld      s11, 104(a0)
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
