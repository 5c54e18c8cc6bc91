#!/usr/bin/env bash
# Every script parses, says its interpreter, and stops at the first error.
set -euo pipefail
rc=0
count=0
while read -r file; do
  count=$((count + 1))
  case "$(head -n 1 "$file")" in
    '#!/usr/bin/env bash') bash -n "$file" || rc=1
      grep -q 'set -euo pipefail\|set -uo pipefail' "$file" || { echo "$file: no 'set -euo pipefail'"; rc=1; } ;;
    '#!/bin/sh') sh -n "$file" || rc=1 ;;
    *) grep -q 'shellcheck shell=bash' "$file" || { echo "$file: neither an interpreter nor marked as sourced"; rc=1; }
      bash -n "$file" || rc=1 ;;
  esac
done < <(find deploy tests .ci -name '*.sh' -o -path .ci/run | sort)
[ "$count" -gt 5 ] || { echo "only $count scripts found: run from the top of the tree"; exit 1; }
echo "$count scripts parse"
exit "$rc"
