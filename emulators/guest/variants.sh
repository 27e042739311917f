# The ISAs and calling conventions of the zoo as data; build.sh and the tools read it.
# A variant is named <isa>-<convention>; the first dash divides.
# shellcheck shell=bash disable=SC2034  # the variables are read by those who source this file

# Committed: the tracer has their ABI card, images/ has their image.
readonly COMMITTED=(
  x86_64-fentry x86_64-fentry-pic x86_64-fentry-ibt x86_64-mcount x86_64-mcount-pic x86_64-mcount-got x86_64-patchable
  x86_64-fentry-nop x86_64-mcount-nop
  i386-fentry i386-mcount i386-mcount-pic i386-mcount-got i386-patchable i386-fentry-nop i386-mcount-nop
  aarch64-mcount aarch64-patchable
  riscv64-mcount riscv64-mcount-far riscv64-mcount-nofp riscv64-patchable
  riscv32-mcount riscv32-mcount-far riscv32-mcount-nofp riscv32-patchable
  arm-mcount arm-mcount-nofp arm-patchable arm-thumb-mcount arm-thumb-patchable
  ppc64-mcount ppc64-profile-kernel ppc64-profile-kernel-3 ppc64-patchable
  ppc64le-mcount ppc64le-profile-kernel ppc64le-profile-kernel-3 ppc64le-patchable
  ppc32-mcount ppc32-patchable
  s390x-mcount s390x-fentry s390x-fentry-nop s390x-patchable
  mips-mcount mips-mcount-ra
  mipsel-mcount mipsel-mcount-ra
  mips64-mcount mips64-mcount-ra
  m68k-mcount m68k-patchable
  s390x-mcount-nop
  sparc-mcount
  aarch64-clang-mcount riscv64-clang-mcount riscv32-clang-mcount s390x-clang-mcount ppc32-clang-mcount
)
# Prepared: no card yet, so no committed image; build.sh --prepared makes them. Card, row of the table and image come
# together: then the name moves up.
readonly PREPARED=(
)
readonly VARIANTS=("${COMMITTED[@]}" "${PREPARED[@]}")
# Where gcc copies the return address (realign/), and the twins that are right: realign/images/.
readonly REALIGN=(i386-mcount i386-mcount-accumulate i386-fentry x86_64-mcount x86_64-fentry)
# Images with a counting function of their own that keeps tables (hot/): hot/images/. Without compressed instructions a
# call has one size, so that it can tell its address by the return address.
readonly HOT=(riscv64-mcount-g riscv32-mcount-g)
# A small preemptive kernel that a timer of the emulator interrupts (rtos/): rtos/images/.
readonly RTOS=(
  x86_64-fentry x86_64-mcount i386-mcount aarch64-mcount riscv64-mcount riscv32-mcount arm-mcount arm-thumb-mcount
  s390x-mcount s390x-fentry ppc32-mcount ppc64-mcount ppc64le-profile-kernel mips-mcount mips64-mcount m68k-mcount
  sparc-mcount riscv64-patchable
)
# Twins beside <isa>-plain, of variants whose flags do more than instrument.
readonly TWINS=(
  x86_64-plain-pic x86_64-plain-got x86_64-plain-ibt i386-plain-pic i386-plain-got
  arm-plain-thumb arm-plain-nofp
  riscv64-plain-nofp riscv64-plain-far riscv32-plain-nofp riscv32-plain-far
)

# describe VARIANT sets
#   isa convention      the two halves of the name
#   compiler package    the compiler, and the Debian package that brings it
#   runtime qemu        runtime/<runtime>.S; qemu-<qemu> runs it
#   isa_flags           for every file of programs/
#   linker linker_isa_flags
#                       gcc, which links and compiles runtime/: the compiler and its flags, unless that is clang
#   instrument_flags    for programs/ only
#   frame_flags         empty where the convention is meant without frame pointers
#   frames              optional, required or none: may, must or cannot the programs keep frame pointers
#   counting            the counting function; empty where the call sites are nops without a function
#   sites               where the call sites are: calls (scan the code), __mcount_loc or __patchable_function_entries
#   fp_check            true where the caller's frame pointer can be had at entry and at exit (README "Frame pointers")
#   fill                the ISA's trap, in the byte order of memory: what fills gaps of the text
#   runtime_flags link_flags edit without   extras, mostly empty; edit is a sed script for the compiler's output,
#                       without names programs that this variant cannot have
describe() {
  isa=${1%%-*}
  convention=${1#*-}
  runtime=$isa qemu=$isa fill=0x00000000 counting=_mcount sites=calls frames=optional fp_check=true
  instrument_flags=(-pg) frame_flags=(-fno-omit-frame-pointer) runtime_flags=() link_flags=() edit='' without=()
  case $isa in
    x86_64)
      compiler=x86_64-linux-gnu-gcc package=gcc fill=0xcccccccc
      isa_flags=(-m64 -march=x86-64 -fcf-protection=none)
      ;;
    i386)
      compiler=x86_64-linux-gnu-gcc package=gcc-multilib fill=0xcccccccc
      isa_flags=(-m32 -march=i686 -mtune=generic -mpreferred-stack-boundary=4 -fcf-protection=none)
      ;;
    aarch64)
      compiler=aarch64-linux-gnu-gcc package=gcc-aarch64-linux-gnu
      isa_flags=(-march=armv8-a -mbranch-protection=none -mno-outline-atomics)
      ;;
    arm)
      compiler=arm-linux-gnueabihf-gcc package=gcc-arm-linux-gnueabihf
      isa_flags=(-marm -mapcs-frame -march=armv7-a+fp -mfloat-abi=hard)
      [[ $convention == *thumb* ]] && isa_flags=(-mthumb -march=armv7-a+fp -mfloat-abi=hard)
      ;;
    riscv64)
      compiler=riscv64-linux-gnu-gcc package=gcc-riscv64-linux-gnu runtime=riscv
      isa_flags=(-march=rv64gc -mabi=lp64d -mcmodel=medany -msmall-data-limit=8)
      ;;
    riscv32) # Debian has no libgcc for rv32: doubles in hardware, so that none is needed
      compiler=riscv64-linux-gnu-gcc package=gcc-riscv64-linux-gnu runtime=riscv
      isa_flags=(-march=rv32gc -mabi=ilp32d -mcmodel=medany -msmall-data-limit=8)
      ;;
    ppc64)
      compiler=powerpc64-linux-gnu-gcc package=gcc-powerpc64-linux-gnu without=(tail_pointer)
      isa_flags=(-m64 -mbig-endian -mabi=elfv1 -mcpu=power4 -mno-altivec -mno-vsx -mlong-double-64)
      ;;
    ppc64le)
      compiler=powerpc64le-linux-gnu-gcc package=gcc-powerpc64le-linux-gnu runtime=ppc64 without=(tail_pointer)
      isa_flags=(-m64 -mlittle-endian -mabi=elfv2 -mcpu=power8 -mno-altivec -mno-vsx -mlong-double-64)
      ;;
    ppc32)
      compiler=powerpc-linux-gnu-gcc package=gcc-powerpc-linux-gnu qemu=ppc
      isa_flags=(-m32 -mbig-endian -mcpu=powerpc -mno-altivec -mlong-double-64 -msdata=none)
      ;;
    s390x)
      compiler=s390x-linux-gnu-gcc package=gcc-s390x-linux-gnu
      # gcc 12 writes CFI around the call of _mcount and cannot assemble it without tables; the linker drops them
      isa_flags=(-m64 -march=z196 -mzarch -fasynchronous-unwind-tables)
      ;;
    mips | mipsel)
      compiler=$isa-linux-gnu-gcc package=gcc-$isa-linux-gnu runtime=mips
      isa_flags=(-march=mips32r2 -mabi=32 -mno-abicalls -G0 -mfpxx -mhard-float -mno-madd4 -mno-micromips -mno-mips16)
      [[ $isa == mips ]] && fill=0x0000000d || fill=0x0d000000
      ;;
    mips64)
      compiler=mips64-linux-gnuabi64-gcc package=gcc-mips64-linux-gnuabi64 runtime=mips fill=0x0000000d
      isa_flags=(-march=mips64r2 -mabi=64 -mno-abicalls -msym32 -G0 -mhard-float -mno-madd4)
      ;;
    m68k)
      compiler=m68k-linux-gnu-gcc package=gcc-m68k-linux-gnu fill=0x4afc4afc
      isa_flags=(-m68030 -m68881)
      ;;
    sparc)
      # Unicorn cannot switch the FPU on (it dies reading PSR): integers only; and no jumps by pointer with -mflat
      compiler=sparc64-linux-gnu-gcc package=gcc-sparc64-linux-gnu
      without=(aggregates arguments returns tail_pointer variadic wide)
      isa_flags=(-m32 -mcpu=v8 -mflat -mno-relax)
      ;;
    *) fail "no such ISA: $isa" ;;
  esac
  case $isa-$convention in
    aarch64-clang-mcount | riscv*-clang-mcount | s390x-clang-mcount | ppc32-clang-mcount)
      frames=required without=(nested tail)
      [[ $isa == ppc32 ]] && without+=(tail_pointer)
      [[ $isa == s390x ]] && without+=(aggregates)
      [[ $isa == s390x || $isa == ppc32 ]] && fp_check=false
      [[ $isa == s390x ]] && counting=mcount
      ;;
    # twins: the flags of a variant without those that instrument
    *-plain) instrument_flags=() counting= ;;
    x86_64-plain-pic | i386-plain-pic) instrument_flags=(-fPIE) counting= ;;
    x86_64-plain-got) instrument_flags=(-fPIE) counting= link_flags=("-Wl,--no-relax") ;;
    i386-plain-got) instrument_flags=(-fPIE "-Wa,-mrelax-relocations=no") counting= ;;
    x86_64-plain-ibt) instrument_flags=(-fcf-protection=branch) counting= ;;
    arm-plain-thumb) instrument_flags=() counting= ;;
    arm-plain-nofp)
      instrument_flags=() counting= frame_flags=()
      isa_flags=(-marm -march=armv7-a+fp -mfloat-abi=hard)
      ;;
    riscv*-plain-nofp) instrument_flags=() counting= frame_flags=() ;;
    riscv*-plain-far) instrument_flags=(-mno-relax) counting= link_flags=("-Wl,--no-relax") ;;
    x86_64-fentry | i386-fentry | x86_64-fentry-nop | i386-fentry-nop)
      instrument_flags=(-pg -mfentry -mrecord-mcount) counting=__fentry__ sites=__mcount_loc
      [[ $convention == *-nop ]] && instrument_flags+=(-mnop-mcount)
      ;;
    x86_64-fentry-ibt)
      instrument_flags=(-pg -mfentry -mrecord-mcount -fcf-protection=branch)
      counting=__fentry__ sites=__mcount_loc
      ;;
    x86_64-fentry-pic) instrument_flags=(-pg -mfentry -fPIE) counting=__fentry__ ;;
    i386-mcount-accumulate)
      instrument_flags=(-pg -mrecord-mcount -maccumulate-outgoing-args)
      counting=mcount sites=__mcount_loc frames=required
      ;;
    x86_64-mcount | i386-mcount | x86_64-mcount-nop | i386-mcount-nop)
      instrument_flags=(-pg -mrecord-mcount) counting=mcount sites=__mcount_loc frames=required
      [[ $convention == *-nop ]] && instrument_flags+=(-mnop-mcount)
      ;;
    x86_64-mcount-pic | i386-mcount-pic) instrument_flags=(-pg -fPIE) counting=mcount frames=required ;;
    x86_64-mcount-got) instrument_flags=(-pg -fPIE) counting=mcount frames=required link_flags=("-Wl,--no-relax") ;;
    i386-mcount-got) # its linker relaxes what the assembler marks
      instrument_flags=(-pg -fPIE "-Wa,-mrelax-relocations=no") counting=mcount frames=required
      ;;
    x86_64-patchable | i386-patchable) patchable 5 ;;
    ppc64le-patchable)
      patchable 2
      # gcc 12 puts the nops in front of the TOC set-up, where a call of the local entry does not pass them (PR 99888);
      # moved to where gcc 13 puts them
      edit='/^\.LPFE/{N;N;N;/\n\.LCF/{N;N;N;s/^\(\.LPFE[0-9]*:\n\tnop\n\tnop\)\n\(.*\)$/\2\n\1/}}'
      ;;
    aarch64-patchable | arm-patchable | ppc64-patchable | ppc32-patchable) patchable 2 ;;
    arm-thumb-patchable | s390x-patchable | m68k-patchable) patchable 3 ;;
    riscv*-patchable) patchable 4 ;;
    arm-mcount) counting=__gnu_mcount_nc frames=required ;;
    arm-mcount-nofp)
      counting=__gnu_mcount_nc frames=none frame_flags=() fp_check=false
      isa_flags=(-marm -march=armv7-a+fp -mfloat-abi=hard)
      ;;
    arm-thumb-mcount) counting=__gnu_mcount_nc fp_check=false ;;
    riscv*-mcount) frames=required ;;
    riscv*-mcount-g) # calls of 4 bytes only
      frames=required
      isa_flags=("${isa_flags[@]/gc/g}")
      ;;
    riscv*-mcount-far) frames=required instrument_flags=(-pg -mno-relax) link_flags=("-Wl,--no-relax") ;;
    riscv*-mcount-nofp) frames=none frame_flags=() fp_check=false ;;
    ppc64*-mcount) fp_check=false ;;
    ppc64*-profile-kernel) instrument_flags=(-pg -mprofile-kernel) runtime_flags=(-DZOO_PROFILE_KERNEL) ;;
    ppc64*-profile-kernel-3)
      instrument_flags=(-pg -mprofile-kernel) runtime_flags=(-DZOO_PROFILE_KERNEL)
      # compilers before gcc 6 saved r0 at once; today's no longer do, so it is put in by hand
      edit='s/^\tbl \.\?_mcount$/\tstd 0,16(1)\n&/'
      ;;
    s390x-fentry | s390x-fentry-nop) # brasl %r0 overwrites the static chain: gcc refuses nested functions
      instrument_flags=(-pg -mfentry -mrecord-mcount) counting=__fentry__ sites=__mcount_loc without=(nested)
      [[ $convention == *-nop ]] && instrument_flags+=(-mnop-mcount)
      ;;
    s390x-mcount) instrument_flags=(-pg -mrecord-mcount) sites=__mcount_loc ;;
    s390x-mcount-nop) instrument_flags=(-pg -mrecord-mcount -mnop-mcount) sites=__mcount_loc ;;
    mips*-mcount) fp_check=false ;;
    mips*-mcount-ra) instrument_flags=(-pg -mmcount-ra-address) fp_check=false ;;
    m68k-mcount) frames=required ;;
    aarch64-mcount) frames=required ;;
    sparc-mcount) frames=required ;;
    ppc32-mcount) ;;
    *) fail "no such variant: $1" ;;
  esac
  linker=$compiler linker_isa_flags=("${isa_flags[@]}")
  if [[ $convention == clang-* ]]; then use_clang; fi
  if [[ $counting == __fentry__ ]]; then runtime_flags+=(-DZOO_FENTRY); fi
}

# The programs by clang, with flags that make the same code for every distribution; it knows no nested functions,
# and makes other calls than gcc the last of their function.
use_clang() {
  compiler=clang package="clang $package"
  case $isa in
    aarch64) isa_flags=(--target=aarch64-linux-gnu -march=armv8-a -mbranch-protection=none -mno-outline-atomics) ;;
    riscv64) isa_flags=(--target=riscv64-linux-gnu -march=rv64gc -mabi=lp64d -mcmodel=medany) ;;
    riscv32) isa_flags=(--target=riscv32-linux-gnu -march=rv32gc -mabi=ilp32d -mcmodel=medany) ;;
    s390x) isa_flags=(--target=s390x-linux-gnu -march=z196) ;;
    ppc32) isa_flags=(--target=powerpc-linux-gnu -mcpu=powerpc -mno-altivec) ;;
  esac
  isa_flags+=(-Wno-unknown-attributes)
}

# Sites of N nops at the start of each function.
patchable() {
  instrument_flags=("-fpatchable-function-entry=$1") counting='' sites=__patchable_function_entries
}
