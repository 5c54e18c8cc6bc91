# Sourced: RDMA traffic between two guests that goes on while other things happen: ib_write_bw on rail0, ib_send_lat on rail1.
# shellcheck shell=bash disable=SC2154,SC2034

# -e sleeps for completions, and renice where a program can only poll: one emulated CPU has better things to do. -u 22: a QP gives up after minutes
# only (4.096 us << 22 a try), since an emulated peer may be away for a second.
perftest_options="-x 1 -F -u 22"
bandwidth="ib_write_bw -d rxe0 $perftest_options -s 4096 -t 4 -Q 1 -D 5 --run_infinitely"
latency="ib_send_lat -p 18516 -d rxe1 $perftest_options -e -s 64 -n 5000000"
qps_lost=0

# The traffic's QPs that can send or, at the passive end, receive: two a guest.
live_qps() { door "$1" "rdma resource show qp | grep 'type RC' | grep 'state RT[RS]' | grep -c 'comm ib_'" || true; }

traffic_start() {
  local server=$1 client=$2
  door "$server" "$bandwidth > /tmp/bandwidth 2>&1 & renice -n 19 -p \$!
    $latency > /tmp/latency 2>&1 & renice -n 19 -p \$!"
  until_true 60 door "$server" 'netstat -ltn | grep -q :18515 && pidof ib_write_bw ib_send_lat > /dev/null' ||
    die "perftest's server did not start in guest $server" "deploy/lab.sh shell $server cat /tmp/bandwidth"
  door "$client" "$bandwidth 10.10.0.$server > /tmp/bandwidth 2>&1 & renice -n 19 -p \$!
    $latency 10.11.0.$server > /tmp/latency 2>&1 & renice -n 19 -p \$!"
  until_true 60 traffic_runs "$server" "$client" ||
    die "perftest did not connect guests $server and $client" "deploy/lab.sh shell $client cat /tmp/bandwidth /tmp/latency"
  traffic_before=$(sent "$client")
}
traffic_runs() { [ "$(live_qps "$1")" -eq 2 ] && [ "$(live_qps "$2")" -eq 2 ]; }
sent() { door "$1" "cat /sys/class/infiniband/rxe*/ports/1/hw_counters/sent_pkts | awk '{s += \$1} END {print s}'"; }

# traffic_stop SERVER CLIENT: what is left of the four QPs, and whether they still carried something at the end.
traffic_stop() {
  local guest now later
  now=$(sent "$2")
  until_true 20 moved_on "$2" "$now" || { failed+=("the RDMA traffic has stopped at $now packets"); }
  for guest in "$@"; do qps_lost=$((qps_lost + 2 - $(live_qps "$guest"))); done
  row "$([ "$qps_lost" -eq 0 ] && echo ok || echo FAIL)" traffic "$(node_name "$2")" - \
    "$((now - traffic_before)) packets sent meanwhile, $qps_lost of 4 QPs lost"
  [ "$qps_lost" -eq 0 ] || failed+=("$qps_lost QPs were lost: deploy/lab.sh shell $2 cat /tmp/bandwidth /tmp/latency")
  for guest in "$@"; do door "$guest" 'killall -INT ib_write_bw ib_send_lat; sleep 0.5; killall -KILL ib_write_bw ib_send_lat' > /dev/null 2>&1 || true; done
}
moved_on() { later=$(sent "$1"); [ "$later" -gt "$2" ]; }
