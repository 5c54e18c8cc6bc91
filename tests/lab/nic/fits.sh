#!/usr/bin/env bash
# Whether the lab's NIC can be built for the kernel in KERNEL_DIR: its interfaces are those of 6.12. Says why not.
#   fits.sh KERNEL_DIR
set -euo pipefail
release=$(cat "${1:?the folder of tests/guest/fetch_kernel.sh}/release")
[ "$(printf '%s\n' 6.12 "$release" | sort -V | head -n 1)" = 6.12 ] && exit 0
echo "the lab's NIC needs a kernel from 6.12 on, and this one is $release; Debian 12 has 6.12 in its security suite" >&2
exit 1
