#!/usr/bin/env bash
# Every C++ file is as clang-format leaves it.
set -euo pipefail
tool=$1
case "$tool" in ""|*NOTFOUND) echo "SKIP: clang-format is not installed"; exit 0 ;; esac
mapfile -t files < <(find include core agent controller tests -name '*.cc' -o -name '*.h' | sort)
[ ${#files[@]} -gt 50 ] || { echo "only ${#files[@]} files found: run from the top of the tree"; exit 1; }
printf '%s\n' "${files[@]}" | xargs -P2 -n 40 "$tool" --dry-run -Werror
echo "${#files[@]} files are formatted"
