#!/bin/sh
# Runs as init of the guest: the lab NIC over two virtio NICs on one wire (rail1 lives in a namespace of its own), and a
# joined pair. Every line that counts begins with GUEST-PASS or GUEST-FAIL.
export PATH=/usr/bin:/usr/sbin:/bin:/sbin
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /run
mount -t tmpfs tmpfs /tmp
mount -t debugfs debugfs /sys/kernel/debug
chmod 755 /usr/bin/dcb_write /usr/bin/send_pfc
busybox --install /tmp 2>/dev/null
export PATH=$PATH:/tmp

pass() { echo "GUEST-PASS $1"; }
fail() { echo "GUEST-FAIL $1: wanted \"$2\", got \"$3\""; }
is() { if [ "$2" = "$3" ]; then pass "$1"; else fail "$1" "$2" "$3"; fi; }
has() { case "$3" in *"$2"*) pass "$1" ;; *) fail "$1" "$2" "$3" ;; esac; }
lacks() { case "$3" in *"$2"*) fail "$1" "no $2" "$3" ;; *) pass "$1" ;; esac; }
flat() { "$@" 2>&1 | tr -s ' \t\n' ' ' | sed 's/ *$//'; }
# refused NAME TEXT COMMAND…: fails, with this text
refused() { name=$1 text=$2; shift 2; if said=$("$@" 2>&1); then fail "$name" "a refusal" "success: $said"; else has "$name" "$text" "$said"; fi; }
up() { seq 80 | while read -r _; do [ "$(cat "/sys/class/net/$1/carrier" 2>/dev/null)" = 1 ] && break; sleep 0.1; done; cat "/sys/class/net/$1/carrier"; }
stat() { ethtool -S "$1" | sed -n "s/^ *$2: //p"; }
# busybox's shell prefers its own ip, which knows no namespaces
ip() { /usr/sbin/ip "$@"; }
# write OBJECT …: the result byte of a dcbnl write. iproute2's dcb 6.1 sets too, but takes the ACK of its read before for
# the answer, so a refusal is a success to it (all but app), and its maxrate is 125 times too large.
write() { dcb_write rail0 "$@"; }
# put FILE VALUE: a write whose error is the shell's exit code
put() { echo "$2" 2>/dev/null > "$1"; }
F=/sys/kernel/debug/rwlab/rail0
modules=/lib/lab

for module in virtio_net crc32c_generic crc32_generic rdma_rxe; do modprobe $module; done
seq 50 | while read -r _; do [ -e /sys/class/net/eth1 ] && break; sleep 0.1; done
insmod $modules/rwlab.ko stack=eth0,eth1 names=rail0,rail1 pairs=1 || fail load success "$?"

# --- stacking
bdf=$(basename "$(readlink /sys/class/net/rail0/device)")
is pci_device_has_only_the_lab_netdev rail0 "$(ls "/sys/bus/pci/devices/$bdf/net")"
is mac_is_the_lowers "$(cat /sys/class/net/eth0/address)" "$(cat /sys/class/net/rail0/address)"
has driver_is_rwlab "driver: rwlab" "$(ethtool -i rail0)"
has driver_has_firmware "firmware-version: 28.39.1002 (RWL_0000000001)" "$(ethtool -i rail0)"
ip link set lo up
ip netns add far
ip link set rail1 netns far
ip addr add 10.9.0.1/24 dev rail0
ip link set rail0 up
ip netns exec far ip addr add 10.9.0.2/24 dev rail1
ip netns exec far ip link set rail1 up
is carrier_is_up 1 "$(up rail0)"
seq 20 | while read -r _; do ping -c 1 -W 1 10.9.0.2 > /dev/null && break; done
ping -c 2 -W 3 10.9.0.2 > /tmp/ping && pass frames_cross_both_lowers || fail frames_cross_both_lowers reply "$(cat /tmp/ping)"
ip link set rail0 mtu 1400
is mtu_passes_down 1400 "$(cat /sys/class/net/eth0/mtu)"
ip link set rail0 mtu 1500
ip link set eth0 down
is carrier_follows_the_lower 0 "$(cat /sys/class/net/rail0/carrier)"
ip link set eth0 up
is carrier_returns_with_the_lower 1 "$(up rail0)"

# --- PFC
has pfc_cap_is_8 "pfc-cap 8" "$(flat dcb pfc show dev rail0)"
has cable_is_7_m "delay 7" "$(flat dcb pfc show dev rail0)"
before=$(stat rail0 link_down_events_phy)
dcb pfc set dev rail0 prio-pfc 3:on
is changed_pfc_takes_the_link_down $((before + 1)) "$(stat rail0 link_down_events_phy)"
has changed_pfc_is_stored "3:on" "$(flat dcb pfc show dev rail0)"
is link_returns_after_pfc 1 "$(up rail0)"
dcb pfc set dev rail0 prio-pfc 3:on
is unchanged_pfc_leaves_the_link $((before + 1)) "$(stat rail0 link_down_events_phy)"
has pause_counters_are_listed_with_pfc rx_prio3_pause_duration "$(ethtool -S rail0)"
lacks pause_counters_of_other_priorities_are_not rx_prio4_pause "$(ethtool -S rail0)"
dcb pfc set dev rail0 delay 40
has delay_is_stored "delay 40" "$(flat dcb pfc show dev rail0)"
dcb pfc set dev rail0 delay 1000
has delay_of_1000_is_ignored "delay 40" "$(flat dcb pfc show dev rail0)"

# --- trust and DSCP
is no_app_entry_at_first "" "$(flat dcb app show dev rail0 dscp-prio)"
base=$(stat rail0 tx_prio3_packets)
traceroute -n -m 1 -q 1 -w 1 -t 104 10.9.0.2 > /dev/null 2>&1
is trust_pcp_counts_on_priority_0 "$base" "$(stat rail0 tx_prio3_packets)"
dcb app add dev rail0 dscp-prio 0:0
has only_the_written_entry_is_listed "dscp-prio 0:0" "$(flat dcb app show dev rail0 dscp-prio)"
lacks other_entries_are_not_listed "26:" "$(flat dcb app show dev rail0 dscp-prio)"
traceroute -n -m 1 -q 1 -w 1 -t 104 10.9.0.2 > /dev/null 2>&1
[ "$(stat rail0 tx_prio3_packets)" -gt "$base" ] && pass unlisted_dscp_26_has_priority_3 || fail unlisted_dscp_26_has_priority_3 more "$base"
is setapp_writes 0 "$(write app 5 26)"
is setapp_writes_again 0 "$(write app 4 26)"
is setapp_is_idempotent 0 "$(write app 4 26)"
has setapp_replaces "26:4" "$(flat dcb app show dev rail0 dscp-prio)"
lacks setapp_leaves_no_second "26:5" "$(flat dcb app show dev rail0 dscp-prio)"
base=$(stat rail0 tx_prio4_packets)
traceroute -n -m 1 -q 1 -w 1 -t 104 10.9.0.2 > /dev/null 2>&1
[ "$(stat rail0 tx_prio4_packets)" -gt "$base" ] && pass dscp_26_counts_on_priority_4 || fail dscp_26_counts_on_priority_4 more "$base"
is delapp_needs_the_exact_priority -2 "$(write delapp 3 26)"
dcb app del dev rail0 dscp-prio 26:4
base=$(stat rail0 tx_prio0_packets)
three=$(stat rail0 tx_prio3_packets)
traceroute -n -m 1 -q 1 -w 1 -t 104 10.9.0.2 > /dev/null 2>&1
is delapp_sets_that_dscp_to_0 "$three" "$(stat rail0 tx_prio3_packets)"
dcb app del dev rail0 dscp-prio 0:0
is last_delapp_empties_the_table "" "$(flat dcb app show dev rail0 dscp-prio)"
refused other_selectors_are_refused "Invalid" dcb app add dev rail0 ethtype-prio 0x8906:3

# --- ETS, rates, buffers, DCBX
has ets_default_swaps_0_and_1 "prio-tc 0:1 1:0 2:2" "$(flat dcb ets show dev rail0)"
is ets_sum_must_be_100 -22 "$(write ets 2,0,0,2 40,0,0,50)"
is ets_write 0 "$(write ets 2,0,0,2,0,0,0,0 50,0,0,50)"
has ets_is_stored "tc-bw 0:50 1:0 2:0 3:50" "$(flat dcb ets show dev rail0)"
is cb_shaper_is_refused -95 "$(write ets 0,0,0,0,0,1)"
is maxrate_write 0 "$(write maxrate 0,0,0,10050000)"
has maxrate_has_100_mbit_steps "3:80Mbit" "$(flat dcb maxrate show dev rail0)"	# dcb 6.1 reads kbit/s as byte/s
is maxrate_above_255_gbit -22 "$(write maxrate 300000000)"
is buffer_sum_is_checked -22 "$(write buffer 0 900000,900000)"
is lossless_buffer_needs_headroom -12 "$(write buffer 0,0,0,1 300000,20000)"
is global_pause_makes_every_buffer_lossless -12 "$(write buffer 0,0,0,1,0,0,2 300000,400000,60000)"
has global_pause_is_on_at_first rx_global_pause "$(ethtool -S rail0)"
ethtool -A rail0 rx off tx off
lacks global_pause_counters_go_with_it rx_global_pause "$(ethtool -S rail0)"
is buffer_write 0 "$(write buffer 0,0,0,1 300000,400000)"
has buffer_is_stored "1:400000" "$(flat dcb buffer show dev rail0)"
has dcbx_is_host_at_first "host" "$(flat dcb dcbx show dev rail0)"
is lld_managed_is_refused 1 "$(write dcbx 0x0a)"
is pfc_without_headroom_fails -12 "$(write buffer 0,0,0,1,0,0,2 300000,400000,60000 > /dev/null; write pfc 0x48)"
has and_yet_changed_the_mask "3:on 4:off 5:off 6:on" "$(flat dcb pfc show dev rail0)"
is pfc_mask_again 0 "$(write pfc 0x08)"

# --- DCQCN
E=/sys/class/net/rail0/ecn
is ecn_default 1019 "$(cat $E/roce_rp/dce_tcp_g)"
put $E/roce_np/cnp_dscp 112
is cnp_dscp_has_six_bits 48 "$(cat $E/roce_np/cnp_dscp)"
put $E/roce_rp/rpg_ai_rate rubbish && pass unparsed_write_succeeds || fail unparsed_write_succeeds success error
is unparsed_write_is_garbage $((0xdeadbeef)) "$(cat $E/roce_rp/rpg_ai_rate)"
put $E/roce_rp/rpg_ai_rate 10
is ecn_write_is_stored 10 "$(cat $E/roce_rp/rpg_ai_rate)"
put $E/roce_rp/enable/3 rubbish && fail enable_is_parsed error success || pass enable_is_parsed
put $E/roce_rp/enable/3 2
is enable_is_masked 0 "$(cat $E/roce_rp/enable/3)"
put $F/ecn_query_fails 1
is failed_query_reads_empty "" "$(cat $E/roce_rp/enable/3)"
put $F/ecn_query_fails off
is query_works_again 0 "$(cat $E/roce_rp/enable/3)"

# --- ethtool
refused pause_autoneg_is_refused "Invalid" ethtool -A rail0 autoneg on
ethtool -G rail0 rx 1500
has rings_round_up "RX: 2048" "$(flat ethtool -g rail0 | sed 's/.*Current//')"
has fec_is_rs "Active FEC encoding: RS" "$(up rail0 > /dev/null; ethtool --show-fec rail0)"
has link_is_400g "Speed: 400000Mb/s" "$(ethtool rail0)"
has link_has_4_lanes "Lanes: 4" "$(ethtool rail0)"
T=/sys/class/net/rail0/settings/pfc_stall_prevention
is stall_prevention_default default "$(cat $T)"
put $T auto
is stall_prevention_auto auto "$(cat $T)"
has module_is_cmis "OSFP" "$(ethtool -m rail0)"
has module_has_vendor "Railwright lab" "$(ethtool -m rail0)"
has module_has_rx_power "0.8000 mW" "$(ethtool -m rail0)"

put $F/module absent
refused no_module_is_an_error "Input/output" ethtool -m rail0
put /sys/kernel/debug/rwlab/lab0/module qsfp28
cat /sys/kernel/debug/rwlab/lab0/eeprom > $F/eeprom
has loaded_pages_are_served "RWL-QSFP28-SR4" "$(ethtool -m rail0)"
put $F/attenuate "0 9"
has sff8636_lane_receives_less "0.1007 mW" "$(ethtool -m rail0)"
is sff8636_warns "Laser rx power low warning (Channel 1) : On" "$(flat ethtool -m rail0 | grep -o 'Laser rx power low warning (Channel 1) : [^ ]*')"
put $F/attenuate off
put $F/module osfp

# --- faults
put $F/attenuate "1 5"
is other_lanes_are_as_before 1 "$(ethtool -m rail0 | grep -c '0.8000 mW')"
has attenuated_lane_receives_less "0.2542 mW" "$(ethtool -m rail0)"
is attenuated_link_is_up 1 "$(up rail0)"
put $F/attenuate "1 14"
is dark_lane_takes_the_link_down 0 "$(cat /sys/class/net/rail0/carrier)"
put $F/attenuate off
is light_brings_it_back 1 "$(up rail0)"
put $F/ber "2 6"
sleep 1
[ "$(stat rail0 rx_err_lane_2_phy)" -gt 0 ] && pass ber_corrects_bits || fail ber_corrects_bits more 0
is ber_of_one_lane_only 0 "$(stat rail0 rx_err_lane_1_phy)"
has ber_is_in_fec_statistics "corrected_blocks" "$(ethtool -I --show-fec rail0)"
put $F/ber "2 3"
sleep 1
has ber_past_fec_is_uncorrectable "Lane 2: " "$(ethtool -I --show-fec rail0 | sed -n '/uncorr/,/corrected_bits/p' | grep -v 'Lane .: 0$')"
put $F/ber off
put $F/carrier 0
is carrier_fault_drops 0 "$(cat /sys/class/net/rail0/carrier)"
has carrier_fault_says_why "No cable" "$(ethtool rail0)"
has faults_lists_it "carrier	0	cable pulled" "$(cat $F/faults)"
put $F/carrier 1
is carrier_fault_ends 1 "$(up rail0)"
put $F/far_fec baser
is far_fec_drops_the_link 0 "$(cat /sys/class/net/rail0/carrier)"
has far_fec_says_why "ogical mismatch" "$(ethtool rail0)"
ethtool --set-fec rail0 encoding baser
is far_fec_is_met 1 "$(up rail0)"
put $F/far_fec off
ethtool --set-fec rail0 encoding rs
is far_fec_ends 1 "$(up rail0)"
base=$(stat rail0 rx_prio3_discards)
put $F/counter "rx_prio3_discards +1000"
is counter_jumps $((base + 1000)) "$(stat rail0 rx_prio3_discards)"
put $F/counter "no_such +1" && fail unknown_counter_is_refused error success || pass unknown_counter_is_refused
put $F/refuse "pfc 5"
is refused_write_has_its_errno -5 "$(write pfc 0x10)"
lacks refused_write_changes_nothing "4:on" "$(flat dcb pfc show dev rail0)"
put $F/refuse off
put $F/clamp "rpg_ai_rate 7"
put $E/roce_rp/rpg_ai_rate 100
is clamped_write_stores_the_limit 7 "$(cat $E/roce_rp/rpg_ai_rate)"
put $F/clamp off
put $F/revert "pfc 300"
dcb pfc set dev rail0 prio-pfc 4:on
has reverted_write_is_seen_first "4:on" "$(flat dcb pfc show dev rail0)"
sleep 1
lacks reverted_write_goes "4:on" "$(flat dcb pfc show dev rail0)"
put $F/revert off
put $F/dcbx_peer "pfc 0x10"
dcb dcbx set dev rail0 host ieee
sleep 1
has host_mode_ignores_the_peer "3:on 4:off" "$(flat dcb pfc show dev rail0)"
put $F/dcbx_peer off
up rail0 > /dev/null

# --- the pair
ip link set lab0 up
is pair_is_down_while_one_end_is 0 "$(cat /sys/class/net/lab0/carrier)"
ip link set lab1 up
is pair_is_up_with_both 1 "$(up lab0)"
dcb pfc set dev lab1 prio-pfc 3:on
up lab1 > /dev/null
send_pfc lab0 0x08 100
send_pfc lab0 0x18 0
is pfc_frames_are_counted_on_arrival 2 "$(stat lab1 rx_prio3_pause)"
is a_pause_of_no_time_is_no_transition 1 "$(stat lab1 rx_prio3_pause_transition)"
has indications_are_the_same "3:2" "$(flat dcb -s pfc show dev lab1 indications)"
put /sys/kernel/debug/rwlab/lab0/swap rail0
is swap_is_shown lab0 "$(cat $F/swap)"
ping -c 1 -W 1 10.9.0.2 > /dev/null && fail swapped_cable_does_not_reach silence reply || pass swapped_cable_does_not_reach
put $F/swap none
is carrier_after_swap 1 "$(up rail0)"
seq 20 | while read -r _; do ping -c 1 -W 1 10.9.0.2 > /dev/null && break; done
ping -c 1 -W 3 10.9.0.2 > /dev/null && pass swapped_back_reaches || fail swapped_back_reaches reply silence

# --- RDMA over it
rdma link add rxe0 type rxe netdev rail0 && pass rxe_is_added || fail rxe_is_added success "$?"
insmod $modules/rwlab_tc.ko
C=/sys/class/infiniband/rxe0/tc/1/traffic_class
is traffic_class_is_unset "" "$(cat $C)"
put $C 106
is traffic_class_reads "Global tclass=106" "$(cat $C)"
put $C 300 && fail traffic_class_above_255 error success || pass traffic_class_above_255
rdma link del rxe0
rmmod rwlab_tc

# --- peermem
refused peermem_lacks_its_symbol "unknown symbol" insmod $modules/nvidia-peermem.ko
has peermem_says_which "Unknown symbol ib_register_peer_memory_client" "$(dmesg)"
insmod $modules/rwlab_peer.ko
insmod $modules/nvidia-peermem.ko && pass peermem_loads_with_it || fail peermem_loads_with_it success "$?"
is peermem_version 580.159.04 "$(cat /sys/module/nvidia_peermem/version)"
rmmod nvidia_peermem rwlab_peer

# --- hard use: two writers, traffic, a lower that goes and comes back, unload
put $F/revert "app 1"
put $F/revert "pfc 1"
(seq 60 | while read -r i; do dcb app add dev rail0 dscp-prio 26:$((i % 8)); dcb pfc set dev rail0 prio-pfc $((i % 8)):on; done > /dev/null 2>&1) &
one=$!
(seq 60 | while read -r i; do ethtool -S rail0; dcb pfc set dev rail0 prio-pfc all:off; put $E/roce_rp/rpg_gd "$i"; done > /dev/null 2>&1) &
two=$!
wait $one $two
ping -c 100000 -i 0.01 10.9.0.2 > /dev/null 2>&1 &
virtio=$(basename "$(dirname "$(dirname "$(readlink -f /sys/class/net/eth0)")")")
put /sys/bus/virtio/drivers/virtio_net/unbind "$virtio"
[ -e /sys/class/net/rail0 ] && fail port_goes_with_its_lower gone there || pass port_goes_with_its_lower
put /sys/bus/virtio/drivers/virtio_net/bind "$virtio"
seq 50 | while read -r _; do [ -e /sys/class/net/rail0 ] && break; sleep 0.1; done
is port_returns_with_its_lower rail0 "$(ls "/sys/bus/pci/devices/$bdf/net")"
ip link set rail0 up
rmmod rwlab && pass unloads || fail unloads success "$?"
insmod $modules/rwlab.ko stack=eth0 cc=inbox dcbx_fw=1 driver=mlx5_core
has driver_name_is_a_parameter "driver: mlx5_core" "$(ethtool -i lab0)"
P=/sys/kernel/debug/mlx5/$bdf/cc_params
is inbox_default 1023 "$(cat "$P/rp_initial_alpha_value")"
put "$P/np_cnp_prio_mode" 1
put "$P/np_cnp_prio" 5
is inbox_prio_forces_the_mode 0 "$(cat "$P/np_cnp_prio_mode")"
put "$P/rp_ai_rate" rubbish && fail inbox_is_parsed error success || pass inbox_is_parsed
put "$P/rp_ai_rate" 0x14
is inbox_takes_any_base 20 "$(cat "$P/rp_ai_rate")"
[ -e /sys/class/net/lab0/ecn ] && fail inbox_has_no_ecn absent there || pass inbox_has_no_ecn
lacks firmware_dcbx_at_first host "$(flat dcb dcbx show dev lab0)"
put /sys/kernel/debug/rwlab/lab0/dcbx_peer "pfc 0x10"
dcb pfc set dev lab0 prio-pfc 3:on && pass firmware_mode_takes_the_write || fail firmware_mode_takes_the_write success "$?"
sleep 1
has firmware_mode_overrides_it "3:off 4:on" "$(flat dcb pfc show dev lab0)"
rmmod rwlab && pass unloads_inbox || fail unloads_inbox success "$?"
lacks kernel_is_sound "Call Trace" "$(dmesg)"

echo "GUEST-LOG kernel"; dmesg | grep -iE 'rwlab|BUG|WARNING|Trace|RIP|rail|Unknown' | head -n 60
echo GUEST-END
poweroff -f
