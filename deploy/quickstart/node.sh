#!/usr/bin/env bash
# One node of the quickstart, which has joined: run inside its network namespace, gives it an /etc and a /sys of its own
# and becomes the agent.   node.sh DIR
set -euo pipefail
dir=$1

if [ -z "${RAILWRIGHT_NODE_MOUNTS:-}" ]; then
  RAILWRIGHT_NODE_MOUNTS=private exec unshare --mount --propagation private -- "$0" "$@"
fi
# An overlay's upper half cannot itself lie on an overlay (containers), so it gets a tmpfs.
mkdir -p "$dir/etc-overlay"
mount -t tmpfs -o size=16m,mode=755 tmpfs "$dir/etc-overlay"
mkdir "$dir/etc-overlay/upper" "$dir/etc-overlay/work"
mount -t overlay -o "lowerdir=/etc,upperdir=$dir/etc-overlay/upper,workdir=$dir/etc-overlay/work" overlay /etc
# `ip netns exec` has mounted a /sys of this namespace already.
exec railwright-agent run --state-dir "$dir/state"
