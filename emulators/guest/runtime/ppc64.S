// Guest runtime, ppc64 (big-endian, ELFv1) and ppc64le (ELFv2).
//
// ABI card (64-bit PowerPC ELF ABI Supplement 1.9; OpenPOWER ELFv2 ABI, 2.2 "Function Call Linkage"):
//   arguments      r3-r10, f1-f13
//   results        r3 (ELFv2: r3 r4), f1 (ELFv2: f1-f8, homogeneous aggregates), memory at r3
//   callee-saved   r1 r14-r31 (r31 = frame pointer), f14-f31, cr2-cr4; lr = return address; r2 = TOC;
//                  r11 = static chain
//   pointers       ELFv1: address of a descriptor {code, TOC, chain} in .opd, where the symbol is, too;
//                  ELFv2: the global entry, called with its address in r12; the local entry lies 8 bytes higher
//   stack          r1 is a multiple of 16; back chain at 0(r1), the callee saves lr at 16(r1) of its caller's frame
//   system call    sc, number in r0, arguments r3-r8, result in r3; cr0.so set: r3 is a positive error number
//
// Counting function:
//   _mcount, gcc -pg                  an ordinary call behind the prologue: parent's return address at 16(back chain)
//   _mcount, gcc -pg -mprofile-kernel called first by mflr r0; [std r0,16(r1);] bl: parent's return address in r0.
//                                     It must give the parent back in lr. Keeps all but r0 r12 ctr

#if _CALL_ELF == 2
        .macro  function name
        .globl  \name
        .type   \name, @function
\name:
        .endm
        .macro  end name
        .size   \name, . - \name
        .endm
#define TOC_SAVE 24
#else
        .macro  function name
        .globl  \name
        .type   \name, @function
        .pushsection .opd, "aw"
        .p2align 3
\name:  .quad   .L.\name, .TOC.@tocbase, 0
        .popsection
.L.\name:
        .endm
        .macro  end name
        .size   \name, . - .L.\name
        .endm
#define TOC_SAVE 40
#endif

        .text

        function _start
        bcl     20, 31, 1f              // no register is given: find the TOC from here
1:      mflr    2
        addis   2, 2, (.TOC. - 1b)@ha
        addi    2, 2, (.TOC. - 1b)@l
        li      3, 0
        li      4, 0
        cmpdi   1, 0
        beq     2f
        ld      3, 0(1)                 // a Linux-style stack: argc, argv[0] ...
        addi    4, 1, 8
        b       3f
2:      lis     1, __stack_top@ha       // no stack given: our own, no arguments
        addi    1, 1, __stack_top@l
3:      clrrdi  1, 1, 4
        li      0, 0                    // the outermost frame
        li      31, 0
        mtlr    0
        stdu    0, -112(1)
        bl      main
        nop
        li      0, 1                    // exit
        sc
        trap
        end     _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        function zoo_write
        li      0, 4
        crclr   3
        sc
        bnslr
        neg     3, 3
        blr
        end     zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        function zoo_call_preserving_frame
        mflr    0
        std     0, 16(1)
        std     31, -8(1)
        stdu    1, -128(1)              // r31 is found again by r1, never by itself
        std     2, TOC_SAVE(1)
#if _CALL_ELF == 2
        mr      12, 3
        mtctr   12
#else
        ld      0, 0(3)
        ld      2, 8(3)
        ld      11, 16(3)
        mtctr   0
#endif
        mr      3, 4
        bctrl
        ld      2, TOC_SAVE(1)
        addi    1, 1, 128
        ld      31, -8(1)
        ld      0, 16(1)
        mtlr    0
        blr
        end     zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): r1 lr cr r14-r31 f14-f31; the whole image has one TOC
        function zoo_setjmp
        std     1, 0(3)
        mflr    0
        std     0, 8(3)
        mfcr    0
        std     0, 16(3)
        .irp    n, 14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        std     \n, 24+8*(\n-14)(3)
        stfd    \n, 168+8*(\n-14)(3)
        .endr
        li      3, 0
        blr
        end     zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        function zoo_longjmp
        ld      1, 0(3)
        ld      0, 8(3)
        mtlr    0
        ld      0, 16(3)
        mtcrf   0x38, 0
        .irp    n, 14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31
        ld      \n, 24+8*(\n-14)(3)
        lfd     \n, 168+8*(\n-14)(3)
        .endr
        mr.     3, 4
        bnelr
        li      3, 1                    // 0 is reported as 1, as C asks
        blr
        end     zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING // padded with nops: of itself the assembler would pad with a branch
        .balignl 32, 0x60000000
        .weak   ZOO_COUNTING
        function ZOO_COUNTING
#ifdef ZOO_PROFILE_KERNEL
        mflr    12
        mtctr   12
        mtlr    0
        bctr
#else
        blr
#endif
        .balignl 32, 0x60000000
        end     ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", @progbits
