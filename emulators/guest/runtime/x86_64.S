// Guest runtime, x86_64.
//
// ABI card (System V AMD64 psABI, 3.2 "Function Calling Sequence"):
//   arguments      rdi rsi rdx rcx r8 r9, xmm0-xmm7; al = number of vector registers of a variadic call
//   results        rax rdx, xmm0 xmm1
//   callee-saved   rbx rbp r12-r15, rsp
//   stack          rsp + 8 is a multiple of 16 at a function's entry; return address at 0(%rsp)
//   frame          push %rbp; mov %rsp,%rbp: caller's rbp at 0(%rbp), return address at 8(%rbp)
//   system call    number in rax, arguments rdi rsi rdx r10 r8 r9, result in rax; rcx and r11 are lost
//
// Counting functions (gcc -pg [-mfentry]):
//   mcount         called behind the prologue, parent's return address at 8(%rbp)
//   __fentry__     called first, parent's return address at 8(%rsp)
//   both must keep every register but r11 and the flags

        .text

        .globl  _start
        .type   _start, @function
_start:
        xor     %ebp, %ebp              // the outermost frame, as the psABI asks
        xor     %edi, %edi
        xor     %esi, %esi
        test    %rsp, %rsp
        jz      1f
        mov     (%rsp), %rdi            // a Linux-style stack: argc, argv[0] ...
        lea     8(%rsp), %rsi
        jmp     2f
1:      mov     $__stack_top, %rsp      // no stack given: our own, no arguments
2:      and     $-16, %rsp
        call    main
        mov     %eax, %edi
        mov     $60, %eax               // exit
        syscall
        ud2
        .size   _start, . - _start

// long zoo_write(int file, const void *bytes, unsigned long count)
        .globl  zoo_write
        .type   zoo_write, @function
zoo_write:
        mov     $1, %eax
        syscall
        ret
        .size   zoo_write, . - zoo_write

// long zoo_call_preserving_frame(long (*function)(long), long argument)
        .globl  zoo_call_preserving_frame
        .type   zoo_call_preserving_frame, @function
zoo_call_preserving_frame:
        push    %rbp                    // found again by rsp, never by rbp
        mov     %rdi, %rax
        mov     %rsi, %rdi
        call    *%rax
        pop     %rbp
        ret
        .size   zoo_call_preserving_frame, . - zoo_call_preserving_frame

// int zoo_setjmp(zoo_jmp_buf *place): rbx rbp r12-r15, caller's rsp, return address
        .globl  zoo_setjmp
        .type   zoo_setjmp, @function
zoo_setjmp:
        mov     %rbx, 0(%rdi)
        mov     %rbp, 8(%rdi)
        mov     %r12, 16(%rdi)
        mov     %r13, 24(%rdi)
        mov     %r14, 32(%rdi)
        mov     %r15, 40(%rdi)
        lea     8(%rsp), %rdx
        mov     %rdx, 48(%rdi)
        mov     (%rsp), %rdx
        mov     %rdx, 56(%rdi)
        xor     %eax, %eax
        ret
        .size   zoo_setjmp, . - zoo_setjmp

// void zoo_longjmp(zoo_jmp_buf *place, int value)
        .globl  zoo_longjmp
        .type   zoo_longjmp, @function
zoo_longjmp:
        mov     0(%rdi), %rbx
        mov     8(%rdi), %rbp
        mov     16(%rdi), %r12
        mov     24(%rdi), %r13
        mov     32(%rdi), %r14
        mov     40(%rdi), %r15
        mov     48(%rdi), %rsp
        mov     %esi, %eax
        test    %eax, %eax
        jnz     1f
        inc     %eax                    // 0 is reported as 1, as C asks
1:      jmp     *56(%rdi)
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
