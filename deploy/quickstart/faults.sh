# Sourced by quickstart.sh: breaks things on a node's real kernel and waits until the history shows them fixed.
# shellcheck shell=bash

fixed=0
slowest=0
now_us() { local t; t=$(date +%s%N); echo $((t / 1000)); }

break_mtu() { on_node "$1" ip link set rail0 mtu 1500; }
break_firewall() {
  local handle
  handle=$(on_node "$1" nft -j list chain inet railwright input |
    jq -r '.nftables[].rule? | select(.comment == "railwright:rocev2") | .handle' | head -n 1)
  on_node "$1" nft delete rule inet railwright input handle "$handle"
}
break_sysctl() { on_node "$1" sh -c 'echo 0 > /proc/sys/net/ipv4/conf/all/arp_ignore'; }

# The corrective change of KEY on NODE since a moment, as "at_us took_us noticed change", or nothing. Of long values
# only what had gone is named.
corrected_since() {
  railctl get changes "$1" --key "$2" -o json 2>/dev/null | jq -r --argjson since "$3" '
    [.changes[] | select(.kind == "corrective" and .ok and .at_unix_us >= $since)] | last // empty |
    (if ([.from, .to] | map(length) | max) <= 40 then "\(.from) → \(.to)"
     else [.to, .from] | map(gsub(": "; ", ") | split(", ")) | .[0] - .[1] | "\(join(", ")) had gone, and is back" end) as $change |
    "\(.at_unix_us) \(.took_us) \(.noticed) \($change)"'
}

# fault NAME NODE KEY BREAKER: breaks, waits until it is reported fixed, prints the milliseconds.
fault() {
  local name=$1 node=$2 key=$3 breaker=$4 since line="" ms
  since=$(now_us)
  "$breaker" "$node"
  for _ in $(seq 150); do
    line=$(corrected_since "$node" "$key" "$since")
    [ -n "$line" ] && break
    sleep 0.1
  done
  if [ -z "$line" ]; then
    echo "  $name on $node ($key): NOT fixed within 15 s"
    return 0
  fi
  local at noticed change
  read -r at _ noticed change <<< "$line"
  ms=$(((at - since + 999) / 1000))
  [ "$ms" -gt "$slowest" ] && slowest=$ms
  fixed=$((fixed + 1))
  printf '  %-14s %s  %s: %s; found by %s, fixed %d ms after it was broken\n' "$name" "$node" "$key" "$change" "$noticed" "$ms"
}

# foreign_drop NODE: plants it, waits until it is reported, prints the finding, removes it, waits until it is gone.
foreign_drop() {
  local node=$1 finding=""
  on_node "$node" nft -f - <<'NFT'
table inet site_policy {
  chain input {
    type filter hook input priority 0; policy accept;
    udp dport 4791 drop comment "left by somebody else"
  }
}
NFT
  for _ in $(seq 100); do
    finding=$(railctl status "$node" -o json 2>/dev/null |
      jq -r '.nodes[].findings[] | select(.reason == "ForeignRule") | "  \(.code) \(.verdict) \(.key): \(.message)"')
    [ -n "$finding" ] && break
    sleep 0.1
  done
  on_node "$node" nft list table inet site_policy > /dev/null || { echo "  the foreign table was removed: it must not be" >&2; return 1; }
  on_node "$node" nft delete table inet site_policy
  [ -n "$finding" ] || return 1
  printf '%s\n  (left in place by the agent, as it must be; now removed by this script)\n' "$finding"
  wait_until 100 "$node is compliant again" \
    sh -c "[ \"\$(railctl status $node -o json | jq -r '.nodes[0].verdict')\" = Compliant ]"
}

write_report() {
  local dir=$1
  deploy/as_caller.sh mkdir -p "$dir"
  railctl status -o json > "$work/report.json" || true
  {
    echo "Railwright compliance report, $(date -u +%Y-%m-%dT%H:%M:%SZ)"
    echo
    railctl status || true
    echo
    echo "Generations"
    railctl get generations
    echo
    echo "Changes"
    railctl get changes
  } > "$work/report.txt"
  for file in report.json report.txt; do deploy/as_caller.sh tee "$dir/$file" < "$work/$file" > /dev/null; done
}
