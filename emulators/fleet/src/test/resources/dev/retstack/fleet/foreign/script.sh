# What sh does without another process: functions, loops, expansions, redirections, a trap.
long() {
  local sum=0 line word number rest
  while read -r line number word rest; do
    case $number in
      *[13579]) sum=$((sum + number)) ;;
      200) break ;;
      *0) printf '%s %d %5.1f\n' "${rest##* }" "$number" "$number" ;;
    esac
  done < text
  echo "$1 $sum ${#rest} ${rest%% *} ${missing:-nothing} $#"
  return $((sum % 7))
}
trap 'echo bye $?' EXIT
trap 'echo never' USR1
long one two
echo "returned $?" > made
for file in script.l* *.none; do
  [ -e "$file" ] && echo "$file is there" || echo "$file is not" >&2
done
{ read -r line < made; echo "$line" >> made; } 2> errors
eval 'set -- $line'; shift; echo "$@ $((0x10 << 2 | 1))"
trap - USR1
. ./nothing
echo not reached
