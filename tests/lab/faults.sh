# Sourced: the faults that the lab's NIC can be given (tests/lab/nic).
# shellcheck shell=bash disable=SC2154
lab_fault() { die "no faults yet"; }
