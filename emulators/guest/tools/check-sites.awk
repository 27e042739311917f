# Reads `objdump -d` of an image and judges the call sites; see check-sites.sh. Variables: variant, counting,
# names (file with the traced functions), tails (file with lines "caller callee").
BEGIN {
  FS = "\t"
  while ((getline line < names) > 0) traced[line] = 1
  while ((getline line < tails) > 0) {
    split(line, pair, " ")
    tail[pair[1], pair[2]] = 1
    tail_caller[pair[1]] = 1
  }
}

function complain(text) {
  print "differs: " variant ": " text
  bad++
}

# At the end of a function: was its site of the form of its convention?
function judge(   ok) {
  if (name == "" || name == counting) return
  if (!(name in traced)) {
    # the zoo has functions that no default run calls (w200); they are instrumented all the same
    if (sites > 0 && name !~ /^w200_/) complain(name " is instrumented but in no tree")
    return
  }
  seen[name] = 1
  if (sites != 1) {
    complain(name " has " sites " call sites")
    return
  }
  ok = 0
  if (variant == "x86_64-fentry") ok = site_index == 1 && site_bytes ~ /^e8 /
  if (variant == "x86_64-mcount") ok = before ~ /push %rbp;/ && before ~ /mov %rsp,%rbp;/ && site_bytes ~ /^e8 /
  # gcc schedules other instructions between the move of the return address and the call
  if (variant == "aarch64-mcount")
    ok = before ~ /xpaclri/ && before ~ /(mov x29, sp|add x29, sp, #0x[0-9a-f]+);/ && before ~ /mov x0, x30;/
  if (variant == "riscv64-mcount") ok = before ~ /mv a0,ra;/ && before ~ /s0,sp,[0-9]+;/
  if (!ok) complain(name " has an unexpected call site: " before " " site_bytes)
}

/^[0-9a-f]+ <.*>:$/ {
  judge()
  name = $0
  sub(/^[0-9a-f]+ </, "", name)
  sub(/>:$/, "", name)
  sites = instructions = 0
  before = ""
  next
}

# address TAB bytes TAB mnemonic [TAB operands]; aarch64 and riscv64 put a tab between mnemonic and operands
NF >= 3 {
  text = $3
  for (i = 4; i <= NF; i++) text = text " " $i
  gsub(/ +/, " ", text)
  instructions++
  target = ""
  if (match(text, /<[A-Za-z0-9_]+>/)) target = substr(text, RSTART + 1, RLENGTH - 2)
  mnemonic = text
  sub(/ .*/, "", mnemonic)
  if (target == counting) {
    sites++
    site_index = instructions
    site_bytes = $2
    total++
  } else if (mnemonic ~ /^(jmp|b|j|jr|br)$/ && name in traced) {
    if (target in traced && target != name) {
      if ((name, target) in tail) jumped[name, target] = 1
      else complain(name " jumps to " target ", which no TAIL_CALL allows")
    } else if (text ~ /^(jmp \*|br x|jr )/) {
      indirect[name] = 1
    }
  }
  if (sites == 0) before = before text ";"
}

END {
  judge()
  for (name in traced) if (!(name in seen)) complain(name " is in a tree, but not in the image")
  for (key in tail) {
    split(key, part, SUBSEP)
    if (!(key in jumped) && !(part[1] in indirect)) complain(part[1] " calls " part[2] " instead of jumping to it")
    else count++
  }
  if (bad > 0) exit 1
  print "good: " variant ": " total " call sites, " count " tail calls"
}
