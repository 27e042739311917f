// Guest runtime, ppc32, big-endian.
//
// ABI card (System V ABI, PowerPC Processor Supplement, 3 "Function Calling Sequence"):
//   arguments      r3-r10 (64-bit values in odd/even pairs), f1-f8
//   results        r3 r4, f1, memory at r3 (every struct)
//   callee-saved   r1 r14-r31 (r31 = frame pointer), f14-f31, cr2-cr4; lr = return address; r11 = static chain
//   stack          r1 is a multiple of 16; back chain at 0(r1), the callee saves lr at 4(r1) of its caller's frame
//   system call    sc, number in r0, arguments r3-r8, result in r3; cr0.so set: r3 is a positive error number
//
// Counting function (gcc -pg):
//   _mcount        called first by mflr r0; stw r0,4(r1); bl: parent's return address at 4(r1) and in r0. It must give
//                  the parent back in lr, which the prologue saves or a leaf returns to. Keeps all but r0 and ctr

        .text

        .globl  _start
        .type   _start, @function
_start:
        li      3, 0
        li      4, 0
        cmpwi   1, 0
        beq     1f
        lwz     3, 0(1)                 // a Linux-style stack: argc, argv[0] ...
        addi    4, 1, 4
        b       2f
1:      lis     1, __stack_top@ha       // no stack given: our own, no arguments
        addi    1, 1, __stack_top@l
2:      rlwinm  1, 1, 0, 0, 27
        li      0, 0                    // the outermost frame
        li      31, 0
        mtlr    0
        stwu    0, -16(1)
        bl      main
        li      0, 1                    // exit
        sc
        trap
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, @function
zoo_write:
        li      0, 4
        crclr   3
        sc
        bnslr
        neg     3, 3
        blr
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, @function
zoo_call_preserving_frame:
        mflr    0
        stw     0, 4(1)
        stwu    1, -16(1)               // r31 is found again by r1, never by itself
        stw     31, 12(1)
        mtctr   3
        mr      3, 4
        bctrl
        lwz     31, 12(1)
        addi    1, 1, 16
        lwz     0, 4(1)
        mtlr    0
        blr
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): r1 lr cr r14-r31 f14-f31
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
zoo_setjmp:
        stw     1, 0(3)
        mflr    0
        stw     0, 4(3)
        mfcr    0
        stw     0, 8(3)
        stmw    14, 12(3)
        .irp    n, 14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        stfd    \n, 88+8*(\n-14)(3)
        .endr
        li      3, 0
        blr
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, @function
zoo_longjmp:
        lwz     1, 0(3)
        lwz     0, 4(3)
        mtlr    0
        lwz     0, 8(3)
        mtcrf   0x38, 0
        lmw     14, 12(3)
        .irp    n, 14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        lfd     \n, 88+8*(\n-14)(3)
        .endr
        mr.     3, 4
        bnelr
        li      3, 1                    // 0 is reported as 1, as C asks
        blr
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING // padded with nops: of itself the assembler would pad with a branch
        .balignl 32, 0x60000000
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, @function
ZOO_COUNTING:
        mflr    0
        mtctr   0
        lwz     0, 4(1)
        mtlr    0
        bctr
        .balignl 32, 0x60000000
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", @progbits
