// Guest runtime, arm: A32 or Thumb-2, as the compiler is told.
//
// ABI card (Procedure Call Standard for the Arm Architecture, hard-float variant):
//   arguments      r0-r3 (64-bit values in even pairs), s0-s15
//   results        r0 r1, s0-s3 or d0-d3 (homogeneous aggregates), memory at r0
//   callee-saved   r4-r11, sp, d8-d15; lr = return address; ip = static chain
//   stack          sp is a multiple of 8 at a function's entry
//   frame          A32 with -mapcs-frame: fp = r11; return address at [fp,-4], caller's fp at [fp,-12];
//                  Thumb: r7, which points below the saved registers: neither has a fixed place
//   system call    svc 0, number in r7, arguments r0-r6, result in r0
//
// Counting function (gcc -pg):
//   __gnu_mcount_nc  called behind the prologue by push {lr}; bl: parent's return address at [sp]; it must pop it
//                    into lr, which a leaf returns to. Keeps all but ip and lr

        .syntax unified
#ifdef __thumb__
        .thumb
#else
        .arm
#endif
        .text

        .globl  _start
        .type   _start, %function
_start:
        mov     r7, #0                  // the outermost frame
        mov     r11, #0
        mov     lr, #0
        mov     r0, #0
        mov     r1, #0
        mov     r2, sp
        cmp     r2, #0
        beq     1f
        ldr     r0, [r2]                // a Linux-style stack: argc, argv[0] ...
        add     r1, r2, #4
        b       2f
1:      movw    r2, #:lower16:__stack_top  // no stack given: our own, no arguments
        movt    r2, #:upper16:__stack_top
2:      bic     r2, r2, #7
        mov     sp, r2
        bl      main
        mov     r7, #1                  // exit
        svc     #0
        udf     #0
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, %function
zoo_write:
        push    {r7, lr}
        mov     r7, #4
        svc     #0
        pop     {r7, pc}
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, %function
zoo_call_preserving_frame:
        push    {r4, r7, r11, lr}       // found again by sp, never by a frame pointer
        mov     ip, r0
        mov     r0, r1
        blx     ip
        pop     {r4, r7, r11, pc}
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): r4-r11 sp lr d8-d15
        .globl  zoo_setjmp
        .type   zoo_setjmp, %function
zoo_setjmp:
        stmia   r0!, {r4-r11}
        mov     r2, sp
        str     r2, [r0], #4
        str     lr, [r0], #4
        vstmia  r0!, {d8-d15}
        mov     r0, #0
        bx      lr
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, %function
zoo_longjmp:
        ldmia   r0!, {r4-r11}
        ldr     r2, [r0], #4
        mov     sp, r2
        ldr     lr, [r0], #4
        vldmia  r0!, {d8-d15}
        movs    r0, r1
        it      eq
        moveq   r0, #1                  // 0 is reported as 1, as C asks
        bx      lr
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING
        .p2align 5
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, %function
ZOO_COUNTING:
        mov     ip, lr
        pop     {lr}
        bx      ip
        .p2align 5
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", %progbits
