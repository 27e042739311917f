// Guest runtime, m68k (68030 with 68882).
//
// ABI card (System V ABI, Motorola 68000 Processor Family Supplement, as GNU/Linux has it):
//   arguments      all on the stack, from 4(%sp) at a function's entry
//   results        d0 d1, a0 (pointers; d0 has them, too), fp0, memory at a1
//   callee-saved   d2-d7, a2-a6, sp, fp2-fp7; a0 = static chain
//   stack          sp is a multiple of 4; return address at 0(%sp)
//   frame          link %a6: caller's a6 at 0(%a6), return address at 4(%a6)
//   system call    trap #0, number in d0, arguments d1-d5, result in d0
//
// Counting function (gcc -pg):
//   _mcount        (mcount in other toolchains) called behind the prologue, parent's return address at 4(%a6);
//                  keeps every register

        .text

        .globl  _start
        .type   _start, @function
_start:
        sub.l   %a6, %a6                // the outermost frame
        moveq   #0, %d0
        sub.l   %a0, %a0
        move.l  %sp, %d1
        jeq     1f
        move.l  (%sp), %d0              // a Linux-style stack: argc, argv[0] ...
        lea     4(%sp), %a0
        jra     2f
1:      move.l  #__stack_top, %d1       // no stack given: our own, no arguments
2:      and.l   #-16, %d1
        move.l  %d1, %sp
        move.l  %a0, -(%sp)
        move.l  %d0, -(%sp)
        jsr     main
        move.l  %d0, %d1
        moveq   #1, %d0                 // exit
        trap    #0
        illegal
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, @function
zoo_write:
        movem.l %d2-%d3, -(%sp)
        move.l  12(%sp), %d1
        move.l  16(%sp), %d2
        move.l  20(%sp), %d3
        moveq   #4, %d0
        trap    #0
        movem.l (%sp)+, %d2-%d3
        rts
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, @function
zoo_call_preserving_frame:
        move.l  %a6, -(%sp)             // found again by sp, never by a6
        move.l  12(%sp), -(%sp)
        move.l  12(%sp), %a0
        jsr     (%a0)
        addq.l  #4, %sp
        move.l  (%sp)+, %a6
        rts
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): d2-d7 a2-a6, caller's sp, return address, fp2-fp7
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
zoo_setjmp:
        move.l  4(%sp), %a0
        movem.l %d2-%d7/%a2-%a6, (%a0)
        lea     4(%sp), %a1
        move.l  %a1, 44(%a0)
        move.l  (%sp), 48(%a0)
        fmovem.x %fp2-%fp7, 52(%a0)
        moveq   #0, %d0
        rts
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, @function
zoo_longjmp:
        move.l  4(%sp), %a0
        move.l  8(%sp), %d0
        jne     1f
        moveq   #1, %d0                 // 0 is reported as 1, as C asks
1:      movem.l (%a0), %d2-%d7/%a2-%a6
        fmovem.x 52(%a0), %fp2-%fp7
        move.l  44(%a0), %sp
        move.l  48(%a0), %a1
        jmp     (%a1)
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING
        .p2align 5
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, @function
ZOO_COUNTING:
        rts
        .p2align 5
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", @progbits
