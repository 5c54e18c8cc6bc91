#!/usr/bin/env bash
# The host's half of the door: sends one command and gives back what it wrote and how it ended. 255: the guest did not answer.
#   knock.sh ADDRESS PORT STDIN_FILE COMMAND
set -euo pipefail
exec 3<> "/dev/tcp/$1/$2" || exit 255
LC_ALL=C                                     # lengths in bytes
{ printf '%d %d\n%s' "${#4}" "$(stat -Lc %s "$3")" "$4"; [ "$3" = /dev/null ] || cat "$3"; } >&3
read -r status out err <&3 || { echo "lab: the guest at $1 closed the door before the command ended" >&2; exit 255; }
head -c "$out" <&3
head -c "$err" <&3 >&2
exit "$status"
