// Guest runtime, i386.
//
// ABI card (System V ABI, Intel386 Architecture Processor Supplement, 3 "Low-Level System Information"):
//   arguments      all on the stack, from 4(%esp) at a function's entry
//   results        eax edx, st(0), memory at the hidden first argument, which the callee pops (ret $4) and gives in eax
//   callee-saved   ebx esi edi ebp, esp; ebx holds the GOT in PIC code
//   stack          esp + 4 is a multiple of 16 at a function's entry (gcc); return address at 0(%esp)
//   frame          push %ebp; mov %esp,%ebp: caller's ebp at 0(%ebp), return address at 4(%ebp)
//   system call    int $0x80, number in eax, arguments ebx ecx edx esi edi ebp, result in eax
//
// Counting functions (gcc -pg [-mfentry]):
//   mcount         called behind the prologue, parent's return address at 4(%ebp)
//   __fentry__     called first, parent's return address at 4(%esp)
//   both must keep every register but the flags (ecx carries the static chain and a realigned frame's anchor)

        .text

        .globl  _start
        .type   _start, @function
_start:
        xor     %ebp, %ebp              // the outermost frame
        xor     %eax, %eax
        xor     %ecx, %ecx
        test    %esp, %esp
        jz      1f
        mov     (%esp), %eax            // a Linux-style stack: argc, argv[0] ...
        lea     4(%esp), %ecx
        jmp     2f
1:      mov     $__stack_top, %esp      // no stack given: our own, no arguments
2:      and     $-16, %esp
        sub     $8, %esp
        push    %ecx
        push    %eax
        call    main
        mov     %eax, %ebx
        mov     $1, %eax                // exit
        int     $0x80
        ud2
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, @function
zoo_write:
        push    %ebx
        mov     8(%esp), %ebx
        mov     12(%esp), %ecx
        mov     16(%esp), %edx
        mov     $4, %eax
        int     $0x80
        pop     %ebx
        ret
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, @function
zoo_call_preserving_frame:
        push    %ebp                    // found again by esp, never by ebp
        sub     $4, %esp
        push    16(%esp)
        call    *16(%esp)
        add     $8, %esp
        pop     %ebp
        ret
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): ebx esi edi ebp, caller's esp, return address
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
zoo_setjmp:
        mov     4(%esp), %edx
        mov     %ebx, 0(%edx)
        mov     %esi, 4(%edx)
        mov     %edi, 8(%edx)
        mov     %ebp, 12(%edx)
        lea     4(%esp), %ecx
        mov     %ecx, 16(%edx)
        mov     (%esp), %ecx
        mov     %ecx, 20(%edx)
        xor     %eax, %eax
        ret
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, @function
zoo_longjmp:
        mov     4(%esp), %edx
        mov     8(%esp), %eax
        mov     0(%edx), %ebx
        mov     4(%edx), %esi
        mov     8(%edx), %edi
        mov     12(%edx), %ebp
        mov     16(%edx), %esp
        test    %eax, %eax
        jnz     1f
        inc     %eax                    // 0 is reported as 1, as C asks
1:      jmp     *20(%edx)
        .size   zoo_longjmp, . - zoo_longjmp

// The counting function returns at once; the tracer overwrites it. 32 bytes of its own.
#ifdef ZOO_COUNTING
        .p2align 5
        .weak   ZOO_COUNTING
        .type   ZOO_COUNTING, @function
ZOO_COUNTING:
        ret
        .p2align 5
        .size   ZOO_COUNTING, . - ZOO_COUNTING
#endif

        .section .note.GNU-stack, "", @progbits
