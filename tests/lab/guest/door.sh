#!/bin/sh
# One command a connection (the host's side is tests/lab/door.sh). In: the number of bytes of stdin, a line of shell, those
# bytes. Out: exit status and the numbers of bytes of stdout and stderr, then both.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root
umask 077
base=/tmp/door.$$
read -r size || exit 0
read -r line || exit 0
head -c "$size" > "$base.in"
(umask 022; eval "$line") < "$base.in" > "$base.out" 2> "$base.err"
status=$?
set -- $(wc -c < "$base.out") $(wc -c < "$base.err")
# The numbers that were announced are kept even if something left behind goes on writing.
echo "$status $1 $2"
head -c "$1" "$base.out"
head -c "$2" "$base.err"
rm -f "$base.in" "$base.out" "$base.err"
