// Guest runtime, aarch64.
//
// ABI card (Procedure Call Standard for the Arm 64-bit Architecture, 6 "The Base Procedure Call Standard"):
//   arguments      x0-x7, v0-v7; x8 = address of an indirect result
//   results        x0 x1, v0-v3 (homogeneous aggregates), memory at x8
//   callee-saved   x19-x28, x29 (frame pointer), sp, low halves of v8-v15; x30 = link register
//   stack          sp is a multiple of 16 always
//   frame          stp x29,x30,[sp,...]; mov x29,sp: caller's x29 at [x29], return address at [x29,8]
//   system call    number in x8, arguments x0-x5, result in x0
//
// Counting function (gcc -pg):
//   _mcount        called behind the prologue, x0 = parent's return address (also at [x29,8]);
//                  an ordinary call, the compiler saved the argument registers before

        .text

        .globl  _start
        .type   _start, %function
_start:
        mov     x29, #0                 // the outermost frame
        mov     x30, #0
        mov     x0, #0
        mov     x1, #0
        mov     x9, sp
        cbz     x9, 1f
        ldr     x0, [x9]                // a Linux-style stack: argc, argv[0] ...
        add     x1, x9, #8
        b       2f
1:      adrp    x9, __stack_top         // no stack given: our own, no arguments
        add     x9, x9, :lo12:__stack_top
2:      and     x9, x9, #-16
        mov     sp, x9
        bl      main
        mov     x8, #93                 // exit
        svc     #0
        brk     #1
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, %function
zoo_write:
        mov     x8, #64
        svc     #0
        ret
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, %function
zoo_call_preserving_frame:
        stp     x29, x30, [sp, #-16]!   // found again by sp, never by x29
        mov     x9, x0
        mov     x0, x1
        blr     x9
        ldp     x29, x30, [sp], #16
        ret
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): x19-x30, sp, d8-d15
        .globl  zoo_setjmp
        .type   zoo_setjmp, %function
zoo_setjmp:
        stp     x19, x20, [x0, #0]
        stp     x21, x22, [x0, #16]
        stp     x23, x24, [x0, #32]
        stp     x25, x26, [x0, #48]
        stp     x27, x28, [x0, #64]
        stp     x29, x30, [x0, #80]
        mov     x9, sp
        str     x9, [x0, #96]
        stp     d8, d9, [x0, #112]
        stp     d10, d11, [x0, #128]
        stp     d12, d13, [x0, #144]
        stp     d14, d15, [x0, #160]
        mov     w0, #0
        ret
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, %function
zoo_longjmp:
        ldp     x19, x20, [x0, #0]
        ldp     x21, x22, [x0, #16]
        ldp     x23, x24, [x0, #32]
        ldp     x25, x26, [x0, #48]
        ldp     x27, x28, [x0, #64]
        ldp     x29, x30, [x0, #80]
        ldr     x9, [x0, #96]
        mov     sp, x9
        ldp     d8, d9, [x0, #112]
        ldp     d10, d11, [x0, #128]
        ldp     d12, d13, [x0, #144]
        ldp     d14, d15, [x0, #160]
        cmp     w1, #0
        csinc   w0, w1, wzr, ne         // 0 is reported as 1, as C asks
        br      x30
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 16 bytes of its own each.
#ifdef ZOO_COUNTING
        .p2align 4
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, %function
ZOO_COUNTING:
        ret
        .p2align 4
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", %progbits
