#!/usr/bin/env bash
# That unit_scores.sh notices a unit that got worse, one without a row, and passes the ones there are.
set -euo pipefail
command -v systemd-analyze > /dev/null || { echo "SKIP: systemd-analyze is not installed"; exit 0; }
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
cp deploy/systemd/*.service "$tmp/"
tests/repo/unit_scores.sh "$tmp" deploy/README.md
sed -i '/^NoNewPrivileges=/d; /^CapabilityBoundingSet=/d' "$tmp/railwright-front.service"
if out=$(tests/repo/unit_scores.sh "$tmp" deploy/README.md); then echo "a worse unit passed"; exit 1; fi
grep -q '^railwright-front.service: .* is worse than' <<< "$out" || { echo "not named: $out"; exit 1; }
mv "$tmp/railwright-front.service" "$tmp/railwright-other.service"
if out=$(tests/repo/unit_scores.sh "$tmp" deploy/README.md); then echo "a unit without a row passed"; exit 1; fi
grep -q '^railwright-other.service: .* has no row' <<< "$out" || { echo "not named: $out"; exit 1; }
