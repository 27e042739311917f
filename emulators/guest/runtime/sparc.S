// Guest runtime, sparc v8 without register windows (-mflat).
//
// ABI card (System V ABI, SPARC Processor Supplement, with gcc -mflat):
//   arguments      %o0-%o5, floats too; the rest from 92(%sp)
//   results        %o0 %o1, %f0 %f1, memory at the address that the caller puts at 64(%sp); such a function returns
//                  behind an unimp instruction, 12 bytes after the call
//   callee-saved   %l0-%l7 %i0-%i7 (%fp = %i6), %sp; %o7 = address of the call, return is %o7 + 8; %g2 = static chain
//   stack          %sp is a multiple of 8; the caller gives 92 bytes at %sp: 64 to save %l and %i, 28 for arguments
//   frame          -mflat saves the caller's %fp at 56(%sp) of the entry, moves %o7 to %i7
//   system call    ta 0x10, number in %g1, arguments %o0-%o5, result in %o0; carry set: a positive error number
//
// Counting function (gcc -pg):
//   _mcount        an ordinary call behind the prologue: parent's call in %i7; the call's own address in %o7

        .text

        .globl  _start
        .type   _start, #function
_start:
        clr     %fp                     ! the outermost frame
        clr     %o0
        cmp     %sp, 0
        be      1f
        clr     %o1
        ld      [%sp + 64], %o0         ! a Linux-style stack: argc, argv[0] ...
        ba      2f
        add     %sp, 68, %o1
1:      sethi   %hi(__stack_top), %sp   ! no stack given: our own, no arguments
        or      %sp, %lo(__stack_top), %sp
2:      and     %sp, -8, %sp
        call    main
        sub     %sp, 96, %sp
        mov     1, %g1                  ! exit
        ta      0x10
        unimp   0
        .size   _start, . - _start

! long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, #function
zoo_write:
        mov     4, %g1
        subcc   %g0, 0, %g0             ! carry off
        ta      0x10
        bcc     1f
        nop
        sub     %g0, %o0, %o0
1:      retl
        nop
        .size   zoo_write, . - zoo_write

! long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, #function
zoo_call_preserving_frame:
        sub     %sp, 104, %sp
        st      %o7, [%sp + 96]
        st      %fp, [%sp + 100]        ! found again by %sp, never by itself
        mov     %o0, %g1
        call    %g1
        mov     %o1, %o0
        ld      [%sp + 96], %o7
        ld      [%sp + 100], %fp
        retl
        add     %sp, 104, %sp
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

! int zoo_setjmp(zoo_jmp_buf *place)
        .globl  zoo_setjmp
        .type   zoo_setjmp, #function
zoo_setjmp:
        std     %l0, [%o0]
        std     %l2, [%o0 + 8]
        std     %l4, [%o0 + 16]
        std     %l6, [%o0 + 24]
        std     %i0, [%o0 + 32]
        std     %i2, [%o0 + 40]
        std     %i4, [%o0 + 48]
        std     %i6, [%o0 + 56]
        st      %sp, [%o0 + 64]
        st      %o7, [%o0 + 68]
        retl
        clr     %o0
        .size   zoo_setjmp, . - zoo_setjmp

! void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, #function
zoo_longjmp:
        ldd     [%o0], %l0
        ldd     [%o0 + 8], %l2
        ldd     [%o0 + 16], %l4
        ldd     [%o0 + 24], %l6
        ldd     [%o0 + 32], %i0
        ldd     [%o0 + 40], %i2
        ldd     [%o0 + 48], %i4
        ldd     [%o0 + 56], %i6
        ld      [%o0 + 64], %sp
        ld      [%o0 + 68], %o7
        cmp     %o1, 0
        bne     1f
        mov     %o1, %o0
        mov     1, %o0                  ! 0 is reported as 1, as C asks
1:      retl
        nop
        .size   zoo_longjmp, . - zoo_longjmp

! The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING
        .align  32
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, #function
ZOO_COUNTING:
        retl
        nop
        .align  32
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section ".note.GNU-stack"
