# Reads `objdump -d` of an image and judges the call sites; see check-sites.sh. Variables: variant, counting,
# names (file with the traced functions), tails (file with lines "caller callee"), form (what must stand in front of and
# at the site, a regular expression over "instruction;instruction;...;"), first (the site is the function's first
# instructions: nothing may stand in front of what form matches), noted (file with the site addresses of the image's
# table, for sites that are nops).
BEGIN {
  FS = "\t"
  while ((getline line < names) > 0) traced[line] = 1
  while ((getline line < tails) > 0) {
    split(line, pair, " ")
    tail[pair[1], pair[2]] = 1
    tail_caller[pair[1]] = 1
  }
  if (noted != "") while ((getline line < noted) > 0) site_at[line] = 1
  if (first) form = "^" form
}

function complain(text) {
  print "differs: " variant ": " text
  bad++
}

# At the end of a function: was its site of the form of its convention?
function judge() {
  if (longest > 300 && variant ~ /^mips/) complain(name " runs " longest " instructions without a branch")
  longest = run = 0
  if (name == "" || name == counting) return
  if (!(name in traced)) {
    # the zoo has functions that no default run calls (w200); they are instrumented all the same
    if (sites > 0 && name !~ /^w200_/) complain(name " is instrumented but in no tree")
    return
  }
  seen[name] = 1
  if (sites != 1) {
    complain(name " has " sites + 0 " call sites")
    return
  }
  if (front !~ form) complain(name " has an unexpected call site: " front)
}

/^[0-9a-f]+ <.*>:$/ {
  judge()
  name = $0
  sub(/^[0-9a-f]+ </, "", name)
  sub(/>:$/, "", name)
  sub(/^\./, "", name) # ELFv1: the code's own name
  sites = behind = 0
  front = ""
  next
}

# address TAB bytes TAB mnemonic [TAB operands]; some ISAs put a tab between mnemonic and operands
NF >= 3 {
  address = $1
  sub(/^ */, "", address)
  sub(/:.*/, "", address)
  text = $3
  for (i = 4; i <= NF; i++) text = text " " $i
  gsub(/[ \t]+/, " ", text)
  sub(/ *$/, "", text)
  bytes = $2
  gsub(/ /, "", bytes)
  target = ""
  if (match(text, /<\.?[A-Za-z0-9_]+>/)) target = substr(text, RSTART + 1, RLENGTH - 2)
  sub(/^\./, "", target)
  mnemonic = text
  sub(/ .*/, "", mnemonic)
  is_site = noted == "" ? target == counting || (got != "" && index(text, got)) : address in site_at
  if (is_site) {
    sites++
    total++
    behind = 8 # the form may look at some instructions from the site on
  } else if (mnemonic ~ /^(jmp|b|b\.n|b\.w|j|jr|br|bx|jg|bra|bra[swl]|jra)$/ && name in traced) {
    if (target in traced && target != name) {
      if ((name, target) in tail) jumped[name, target] = 1
      else complain(name " jumps to " target ", which no TAIL_CALL allows")
    } else if (target == "" && text !~ /^(jr ra|br %r14|bx lr)/) {
      indirect[name] = 1
    }
  }
  # sparc jumps by a call that gets the old return address back in its delay slot
  if (text == "mov %g1, %o7" && (name, called) in tail) jumped[name, called] = 1
  called = mnemonic == "call" ? target : ""
  if (text ~ /^(bctr$|jmp %a|jr (t|v|at|a)|jmp %[go])/) indirect[name] = 1
  if (sites == 0 || behind > 0) front = front bytes " " text ";"
  if (behind > 0) behind--
  # longest run without a branch: Unicorn translates it in one piece, and breaks on mips above 360
  if (mnemonic ~ /^(b|j|syscall|break)/) run = 0
  else if (++run > longest) longest = run
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
