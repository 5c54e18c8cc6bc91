#!/usr/bin/env bash
# What each unit may still do, as systemd-analyze counts it (0 nothing, 10 everything), is not more than deploy/README.md
# says.   unit_scores.sh [UNIT_FOLDER README]
set -euo pipefail
units=${1:-deploy/systemd} readme=${2:-deploy/README.md}
command -v systemd-analyze > /dev/null || { echo "SKIP: systemd-analyze is not installed"; exit 0; }
bad=0
for unit in "$units"/*.service; do
  name=$(basename "$unit")
  written=$(sed -n "s/^| \`$name\` | \([0-9.]*\) |.*/\1/p" "$readme")
  found=$(systemd-analyze security --offline=true "$unit" 2> /dev/null | sed -n 's/.*Overall exposure level for [^:]*: \([0-9.]*\).*/\1/p')
  if [ -z "$written" ]; then echo "$name: $readme has no row for it, found $found"; bad=1; continue; fi
  if [ -z "$found" ]; then echo "$name: systemd-analyze gives no figure"; bad=1; continue; fi
  if awk -v found="$found" -v written="$written" 'BEGIN { exit !(found > written) }'; then
    echo "$name: $found is worse than the $written in $readme; next: systemd-analyze security --offline=true $unit"
    bad=1
  fi
done
exit "$bad"
