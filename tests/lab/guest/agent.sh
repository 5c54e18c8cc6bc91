#!/bin/sh
# Keeps the agent running as its unit would; init starts it again when it ends.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
. /lab/site.sh
while [ -e /run/agent.stop ]; do sleep 0.2; done      # what `systemctl stop` would be
exec >> /run/agent.log 2>&1
[ -e /var/lib/railwright-agent/trust/node ] || /lab/join.sh || exit 1
exec railwright-agent run --state-dir /var/lib/railwright-agent --scan-interval "$scan_interval" --firmware-interval "$firmware_interval"
