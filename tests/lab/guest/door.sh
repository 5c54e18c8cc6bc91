#!/bin/sh
# One command a connection (the host's side is tests/lab/door.sh). In: a line with the number of bytes of the command and of
# its stdin, then both. Out: a line with the exit status and the numbers of bytes of stdout and stderr, then both.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
base=/tmp/door.$$
read -r command_size stdin_size || exit 0
head -c $((command_size + stdin_size)) > "$base.in"
if [ "$stdin_size" -eq 0 ]; then
  mv "$base.in" "$base.sh"
  : > "$base.in"
else
  head -c "$command_size" "$base.in" > "$base.sh"
  tail -c "$stdin_size" "$base.in" > "$base.stdin"
  mv "$base.stdin" "$base.in"
fi
sh "$base.sh" < "$base.in" > "$base.out" 2> "$base.err"
status=$?
# The sizes that were announced are kept even if something left behind goes on writing.
set -- $(stat -c %s "$base.out" "$base.err")
echo "$status $1 $2"
head -c "$1" "$base.out"
head -c "$2" "$base.err"
rm -f "$base.in" "$base.sh" "$base.out" "$base.err"
