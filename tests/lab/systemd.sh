# Sourced: the layer of the guest whose init is systemd, with D-Bus, a journal and the agent's packaged unit. Laid over
# the other layers; only what is named here is there, so that little can fail and little has to boot.
# shellcheck shell=bash disable=SC2154

systemd_programs=(/usr/lib/systemd/systemd /usr/lib/systemd/systemd-journald /usr/lib/systemd/systemd-shutdown
                  /usr/lib/systemd/systemd-executor /usr/bin/systemctl /usr/bin/journalctl /usr/bin/busctl /usr/bin/dbus-daemon)
systemd_units=(basic.target sysinit.target local-fs.target local-fs-pre.target swap.target sockets.target timers.target
               paths.target slices.target multi-user.target network.target network-pre.target network-online.target
               time-sync.target shutdown.target umount.target final.target poweroff.target reboot.target emergency.target
               systemd-poweroff.service systemd-reboot.service
               systemd-journald.service systemd-journald.socket systemd-journald-dev-log.socket dbus.service dbus.socket)

# host_file PATH: where it is: fetched (some packages still say /lib) or the host's.
host_file() {
  local file
  for file in "$tools$1" "$tools${1#/usr}" "$1"; do [ -e "$file" ] && { echo "$file"; return 0; }; done
  return 1
}

pack_systemd() {
  local program unit file units=$root/usr/lib/systemd/system
  pack_skeleton
  pack_sysroot=$tools
  for program in "${systemd_programs[@]}"; do
    file=$(host_file "$program") || continue  # systemd-executor is of later versions
    LD_LIBRARY_PATH=$tool_libraries:$tool_libraries/systemd pack_program "$file" "$program"
  done
  [ -e "$root/usr/lib/systemd/systemd" ] || die "systemd is neither fetched nor installed" "rm -r $tools, then deploy/lab.sh up --systemd"
  ln -sfn usr/lib/systemd/systemd "$root/init"
  mkdir -p "$units/multi-user.target.wants" "$units/sysinit.target.wants" "$units/sockets.target.wants" "$units/railwright-agent.service.d" "$units/railwright-front.service.d"
  for unit in "${systemd_units[@]}"; do install -m 644 "$(host_file "/usr/lib/systemd/system/$unit")" "$units/$unit"; done
  install -m 644 "$lab_dir"/guest/systemd/*.service deploy/systemd/railwright-agent.service deploy/systemd/railwright-front.service "$units/"
  install -m 644 "$lab_dir/guest/systemd/railwright-agent.lab.conf" "$units/railwright-agent.service.d/lab.conf"
  install -m 644 "$lab_dir/guest/systemd/railwright-front.lab.conf" "$units/railwright-front.service.d/lab.conf"
  ln -s multi-user.target "$units/default.target"
  for unit in rwlab-door rwlab-shell rwlab-join railwright-agent railwright-front lab-demo dbus; do ln -s "../$unit.service" "$units/multi-user.target.wants/"; done
  for unit in rwlab-boot systemd-journald; do ln -s "../$unit.service" "$units/sysinit.target.wants/"; done
  for unit in dbus systemd-journald systemd-journald-dev-log; do ln -s "../$unit.socket" "$units/sockets.target.wants/"; done
  mkdir -p "$root/usr/share/dbus-1/system.d" "$root/usr/share/dbus-1/system-services" "$root/etc/systemd" "$root/var/log"
  install -m 644 "$(host_file /usr/share/dbus-1/system.conf)" "$root/usr/share/dbus-1/"
  install -m 644 "$(host_file /usr/share/dbus-1/system.d/org.freedesktop.systemd1.conf)" "$root/usr/share/dbus-1/system.d/"
  printf '[Journal]\nStorage=volatile\nRuntimeMaxUse=8M\nAudit=no\n' > "$root/etc/systemd/journald.conf"
  printf 'root:x:0:0:root:/root:/bin/sh\nmessagebus:x:100:100::/nonexistent:/usr/sbin/nologin\nrailwright-front:x:102:102::/nonexistent:/usr/sbin/nologin\n' > "$root/etc/passwd"
  printf 'root:x:0:\nmessagebus:x:100:\nsystemd-journal:x:101:\nrailwright-front:x:102:\n' > "$root/etc/group"
  printf 'ID=debian\nVERSION_ID="12"\nPRETTY_NAME="Railwright lab"\n' > "$root/etc/os-release"
  : > "$root/etc/machine-id"
}
