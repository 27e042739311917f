# What gcc writes at a call site, per variant: regular expressions over `objdump -d`, each instruction as
# "bytes text;" (no {n}: mawk has none). FIRST marks those that begin the function. Read by check-sites.sh.
# shellcheck shell=bash disable=SC2034  # read by those who source this file

# One line per variant, however long.
declare -A FORM=(
  # a nested function saves its static chain before it calls __fentry__
  [x86_64-fentry]='(4152 push %r10;)?e8[0-9a-f]+ call [^;]*<__fentry__>;'
  [x86_64-fentry-ibt]='(f30f1efa endbr64;|4152 push %r10;)e8[0-9a-f]+ call [^;]*<__fentry__>;'
  [x86_64-fentry-pic]='(4152 push %r10;)?67e8[0-9a-f]+ [^;]*<__fentry__>;'
  [x86_64-mcount]='mov %rsp,%rbp;([^;]*;)*e8[0-9a-f]+ call [^;]*<mcount>;'
  [x86_64-mcount-pic]='mov %rsp,%rbp;([^;]*;)*67e8[0-9a-f]+ [^;]*<mcount>;'
  [x86_64-mcount-got]='mov %rsp,%rbp;([^;]*;)*ff15[0-9a-f]+ call \*0x[0-9a-f]+\(%rip\)'
  [x86_64-patchable]='90 nop;90 nop;90 nop;90 nop;90 nop;'
  [i386-fentry]='(51 push %ecx;)?e8[0-9a-f]+ call [^;]*<__fentry__>;'
  [i386-mcount]='mov %esp,%ebp;([^;]*;)*e8[0-9a-f]+ call [^;]*<mcount>;'
  [i386-mcount-pic]='mov %esp,%ebp;([^;]*;)*67e8[0-9a-f]+ [^;]*<mcount>;'
  [i386-mcount-got]='mov %esp,%ebp;([^;]*;)*ff93[0-9a-f]+ call \*-?0x[0-9a-f]+\(%ebx\)'
  [i386-patchable]='90 nop;90 nop;90 nop;90 nop;90 nop;'
  # gcc schedules other instructions between the move of the return address and the call
  [aarch64-mcount]='(mov x29, sp|add x29, sp, #0x[0-9a-f]+);([^;]*;)*[0-9a-f]* xpaclri;([^;]*;)*[0-9a-f]* mov x0, x30;([^;]*;)*[0-9a-f]* bl '
  [aarch64-patchable]='d503201f nop;d503201f nop;'
  [arm-mcount]='push .[^;]*fp, ip, lr, pc.;[0-9a-f]* sub fp, ip, #[0-9]+;([^;]*;)*e52de004 push .lr.[^;]*;eb[0-9a-f]+ bl '
  [arm-mcount-nofp]='e52de004 push .lr.[^;]*;eb[0-9a-f]+ bl '
  [arm-patchable]='e320f000 nop[^;]*;e320f000 nop[^;]*;'
  [arm-thumb-mcount]='(add|mov) r7, sp[^;]*;([^;]*;)*b500 push .lr.;[0-9a-f]+ bl '
  [arm-thumb-patchable]='bf00 nop;bf00 nop;bf00 nop;'
  [riscv64-mcount]='s0,sp,[0-9]+;([^;]*;)*[0-9a-f]* mv a0,ra;([^;]*;)*[0-9a-f]+ jal '
  [riscv64-mcount-far]='s0,sp,[0-9]+;([^;]*;)*[0-9a-f]* mv a0,ra;([^;]*;)*[0-9a-f]+097 auipc ra,[^;]*;[0-9a-f]+ jalr '
  [riscv64-mcount-nofp]='s[dw] ra,[0-9]+\(sp\);([^;]*;)*[0-9a-f]* mv a0,ra;([^;]*;)*[0-9a-f]+ jal '
  [riscv64-patchable]='0001 nop;0001 nop;0001 nop;0001 nop;'
  [ppc64-mcount]='std r0,16\(r1\);([^;]*;)*[0-9a-f]* stdu r1,-[0-9]+\(r1\);([^;]*;)*4[0-9a-f]+ bl [^;]*;60000000 nop;'
  [ppc64-profile-kernel]='7c0802a6 mflr r0;(f9610018 std r11,24\(r1\);)?4[0-9a-f]+ bl '
  [ppc64-profile-kernel-3]='7c0802a6 mflr r0;(f9610018 std r11,24\(r1\);)?f8010010 std r0,16\(r1\);4[0-9a-f]+ bl '
  [ppc64-patchable]='60000000 nop;60000000 nop;'
  [ppc64le-mcount]='std r0,16\(r1\);([^;]*;)*[0-9a-f]* stdu r1,-[0-9]+\(r1\);([^;]*;)*[0-9a-f]+4[0-9a-f] bl [^;]*;00000060 nop;'
  [ppc64le-profile-kernel]='([0-9a-f]+[34][0-9a-f] (addis|lis) r2,[^;]*;[0-9a-f]* addi r2,r2,[^;]*;)?a602087c mflr r0;(180061f9 std r11,24\(r1\);)?[0-9a-f]+4[0-9a-f] bl '
  [ppc64le-profile-kernel-3]='([0-9a-f]+[34][0-9a-f] (addis|lis) r2,[^;]*;[0-9a-f]* addi r2,r2,[^;]*;)?a602087c mflr r0;(180061f9 std r11,24\(r1\);)?100001f8 std r0,16\(r1\);[0-9a-f]+4[0-9a-f] bl '
  [ppc64le-patchable]='([0-9a-f]+[34][0-9a-f] (addis|lis) r2,[^;]*;[0-9a-f]* addi r2,r2,[^;]*;)?00000060 nop;00000060 nop;'
  [ppc32-mcount]='(9421fff0 stwu r1,-16\(r1\);9161000c stw r11,12\(r1\);)?7c0802a6 mflr r0;90010004 stw r0,4\(r1\);4[0-9a-f]+ bl '
  [ppc32-patchable]='60000000 nop;60000000 nop;'
  [s390x-mcount]='e3e0f0080024 stg %r14,8\(%r15\);c0e5[0-9a-f]+ brasl %r14,[^;]*;e3e0f0080004 lg %r14,8\(%r15\);'
  [s390x-mcount-nop]='c00400000000 jgnop [^;]*;c00400000000 jgnop [^;]*;c00400000000 jgnop [^;]*;'
  [s390x-fentry]='c005[0-9a-f]+ brasl %r0,'
  [s390x-fentry-nop]='c00400000000 jgnop [^;]*;'
  [s390x-patchable]='0700 nopr[^;]*;0700 nopr[^;]*;0700 nopr[^;]*;'
  [mips-mcount]='move at,ra;([^;]*;)*0c[0-9a-f]+ jal [^;]*;27bdfff8 addiu sp,sp,-8;'
  [mips-mcount-ra]='move at,ra;([0-9a-f]* move v0,t7;)?[0-9a-f]* (move t4,zero|addiu t4,sp,[0-9]+);0c[0-9a-f]+ jal [^;]*;27bdfff8 addiu sp,sp,-8;'
  [mips64-mcount]='move at,ra;([^;]*;)*0c[0-9a-f]+ jal '
  [mips64-mcount-ra]='move at,ra;([0-9a-f]* move v0,t3;)?0c[0-9a-f]+ jal [^;]*;[0-9a-f]* (move t0,zero|daddiu t0,sp,[0-9]+);'
  [m68k-mcount]='linkw %fp,[^;]*;([^;]*;)*61ff[0-9a-f]+ bsrl '
  [m68k-patchable]='4e71 nop;4e71 nop;4e71 nop;'
  [sparc-mcount]='mov %o7, %i7;([^;]*;)*[0-9a-f]+ call '
)
for variant in mcount mcount-far mcount-nofp patchable; do FORM[riscv32-$variant]=${FORM[riscv64-$variant]}; done
for variant in mcount mcount-ra; do FORM[mipsel-$variant]=${FORM[mips-$variant]}; done

readonly FIRST='-(fentry|patchable|profile-kernel|nop)|^(ppc32|s390x)-mcount'
