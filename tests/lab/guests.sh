# Sourced: the virtual machines. Emulation only, so that any machine can run them; their rail NICs lie behind a PCIe
# switch with ACS, the management NIC on the root bus.
#
#     root bus ─┬─ mgmt NIC
#               └─ root port ─ switch (x3130) ─┬─ downstream port ─ rail0's NIC
#                                              └─ downstream port ─ rail1's NIC
# shellcheck shell=bash disable=SC2154

# Clocks whose rate is known: those that a kernel measures at boot run wild where the host is busy just then.
guest_cmdline="console=ttyS0 quiet panic=-1 mitigations=off no_timer_check tsc=unstable clocksource=hpet nolapic_timer nowatchdog"
guest_memory=${RAILWRIGHT_LAB_MEMORY:-384}   # MiB; at boot the image is there twice

guest_start() {
  local n=$1 dir=$state/guest-$1 mac initrd=$image
  # The last guest is the one of the other kind.
  if [ "$systemd" = yes ] && [ "$n" -eq "$(nodes_up)" ]; then initrd=$systemd_image; fi
  mac=$(printf '52:54:00:6c:%02x' "$n")
  nic() { printf 'virtio-net-pci,netdev=%s,mac=%s:%s,romfile=%s' "$1" "$mac" "$2" ''; }
  mkdir -p "$dir"
  : > "$dir/console"
  # Not on the kernel's command line, which everybody in the guest and on this host may read.
  join_line "$n" "$dir/join"
  if ! in_leaf qemu-system-x86_64 -name "$(node_name "$n")" -pidfile "$dir/pid" -daemonize -display none -nodefaults -no-reboot \
    -M q35 -accel tcg,thread=multi,tb-size=128 -cpu max -smp 1 -m "$guest_memory" \
    -serial "file:$dir/console" -serial pty \
    -kernel "$kernel/vmlinuz" -initrd "$initrd" \
    -append "$guest_cmdline $cmdline lab.node=$n" \
    -fw_cfg "name=opt/org.railwright/join,file=$dir/join" \
    -netdev "tap,id=m,ifname=n${n}m,script=no,downscript=no" \
    -netdev "tap,id=r0,ifname=n${n}r0,script=no,downscript=no" \
    -netdev "tap,id=r1,ifname=n${n}r1,script=no,downscript=no" \
    -device "$(nic m 00)" \
    -device pcie-root-port,id=rp1,chassis=1 -device x3130-upstream,id=up1,bus=rp1 \
    -device xio3130-downstream,id=dn1,bus=up1,chassis=2,slot=1 -device xio3130-downstream,id=dn2,bus=up1,chassis=3,slot=2 \
    -device "$(nic r0 01),bus=dn1,host_mtu=9216" -device "$(nic r1 02),bus=dn2,host_mtu=9216" \
    > "$dir/qemu.log" 2>&1 < /dev/null; then
    cat "$dir/qemu.log" >&2
    die "QEMU did not start guest $n (above)" "deploy/lab.sh down"
  fi
  rm -f "$dir/join" "$dir/join.log"            # QEMU has read it
  sed -n 's/.*redirected to \([^ ]*\).*/\1/p' "$dir/qemu.log" > "$dir/tty"
}

guests_start() {
  local n
  say "starting $1 guests"
  for n in $(seq "$1"); do guest_start "$n"; done
}

guest_ready() { grep -aq "^RWLAB ready $1 " "$state/guest-$1/console"; }
guests_ready() {
  local n ready=0
  for n in $(seq "$(nodes_up)"); do guest_ready "$n" && ready=$((ready + 1)); done
  echo "$ready"
}

# A guest that has ended (a kernel panic, say) or did not boot is named with the last of its console.
guests_alive() {
  local n
  for n in $(seq "$(nodes_up)"); do
    ! grep -a '^RWLAB failed' "$state/guest-$n/console" >&2 && is_ours "$state/guest-$n/pid" && continue
    tail -n 20 "$state/guest-$n/console" >&2
    die "guest $n has ended; the last of its console is above, all of it in $state/guest-$n/console" "deploy/lab.sh down, then up"
  done
}

guests_down() {
  local dir
  for dir in "$state"/guest-*; do stop_pid "$dir/pid"; done
}

# Seconds of CPU that the guests have used.
guests_cpu() {
  local pid total=0 ticks
  for file in "$state"/guest-*/pid; do
    pid=$(cat "$file")
    ticks=$(sed 's/.*) //' "/proc/$pid/stat" 2> /dev/null | awk '{print $12 + $13}') || continue
    total=$((total + ticks))
  done
  echo $((total / $(getconf CLK_TCK)))
}
