// Guest runtime, s390x.
//
// ABI card (S/390 ELF ABI Supplement, zSeries):
//   arguments      r2-r6, f0 f2 f4 f6
//   results        r2, f0, memory at r2 (every struct)
//   callee-saved   r6-r13 (r11 = frame pointer), r15, f8-f15; r14 = return address; r0 = static chain
//   stack          r15 is a multiple of 8; the caller gives 160 bytes at r15, where the callee saves r6-r15 at 48(r15):
//                  r11 at 88(r15), r14 at 112(r15). A leaf may keep r11 in a floating-point register instead
//   system call    svc 0, number in r1, arguments r2-r7, result in r2 (svc n has the number in the instruction)
//
// Counting functions (gcc -pg [-mfentry]):
//   _mcount        called first by stg r14,8(r15); brasl r14; lg r14,8(r15): parent's return address at 8(r15), where
//                  the call site reads it back. Keeps r2-r13 r15
//   __fentry__     called first by brasl r0: parent's return address in r14. Back by r1, as br r0 goes nowhere.
//                  Keeps all but r0 and r1

        .text

        .globl  _start
        .type   _start, @function
_start:
        lghi    %r11, 0                 // the outermost frame
        lghi    %r14, 0
        lghi    %r2, 0
        lghi    %r3, 0
        ltgr    %r15, %r15
        jz      1f
        lg      %r2, 0(%r15)            // a Linux-style stack: argc, argv[0] ...
        la      %r3, 8(%r15)
        j       2f
1:      larl    %r15, __stack_top       // no stack given: our own, no arguments
2:      nill    %r15, 0xfff0
        aghi    %r15, -160
        xc      0(8,%r15), 0(%r15)
        brasl   %r14, main
        lghi    %r1, 1                  // exit
        svc     0
        .short  0
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, @function
zoo_write:
        lghi    %r1, 4
        svc     0
        br      %r14
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, @function
zoo_call_preserving_frame:
        stmg    %r11, %r15, 88(%r15)
        aghi    %r15, -160
        lgr     %r1, %r2
        lgr     %r2, %r3
        basr    %r14, %r1
        lmg     %r11, %r15, 248(%r15)   // found again by r15, never by r11
        br      %r14
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): r6-r15 f8-f15
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
zoo_setjmp:
        stmg    %r6, %r15, 0(%r2)
        .irp    n, 8,9,10,11,12,13,14,15
        std     %f\n, 80+8*(\n-8)(%r2)
        .endr
        lghi    %r2, 0
        br      %r14
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, @function
zoo_longjmp:
        lgr     %r1, %r2
        lgfr    %r2, %r3
        ltgr    %r2, %r2
        jnz     1f
        lghi    %r2, 1                  // 0 is reported as 1, as C asks
1:      lmg     %r6, %r15, 0(%r1)
        .irp    n, 8,9,10,11,12,13,14,15
        ld      %f\n, 80+8*(\n-8)(%r1)
        .endr
        br      %r14
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING
        .p2align 5
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, @function
ZOO_COUNTING:
#ifdef ZOO_FENTRY
        lgr     %r1, %r0
        br      %r1
#else
        br      %r14
#endif
        .p2align 5
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", @progbits
