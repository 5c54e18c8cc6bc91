#!/usr/bin/env bash
# Prints what of this host must not change: /etc, sysctls, nftables, links, addresses, routes, rules, namespaces.
set -euo pipefail
echo "## etc"
# ld.so.cache and resolv.conf belong to others and may change under us.
find /etc -xdev \( -type f -o -type l \) ! -name ld.so.cache ! -name resolv.conf -printf '%p %m %U %G %l\n' | sort
find /etc -xdev -type f ! -name ld.so.cache ! -name resolv.conf ! -name shadow -exec sha256sum {} + 2>/dev/null | sort -k2
echo "## sysctl"
# Counters, random values and what the kernel itself moves are left out.
sysctl -a 2>/dev/null | grep -vE '^(fs\.(dentry-state|file-nr|inode-nr|inode-state|quota|aio-nr)|kernel\.(random|ns_last_pid|pty\.nr|perf_event_max_sample_rate|sched_domain|keys)|net\.netfilter\.nf_conntrack_count|vm\.stat_refresh)' || true
echo "## nft"
nft list ruleset 2>/dev/null || true
echo "## links"
ip -o link | sed -E 's/(qlen|qdisc) [^ ]+//g'
ip -o addr | sed -E 's/valid_lft.*//'
echo "## routes"
ip route show table all | sed -E 's/expires [0-9]+sec//'
ip rule
echo "## namespaces"
ip netns list | sort
echo "## mounts"
# The folder of named namespaces becomes a mount of its own the first time that anybody makes one.
awk '$5 !~ "^/run/netns" {print $5, $9}' /proc/self/mountinfo | sort
