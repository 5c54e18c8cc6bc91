#!/bin/sh
# Keeps the agent running as its unit would; init starts it again when it ends.
export PATH=/usr/sbin:/usr/bin:/sbin:/bin
. /lab/site.sh
while [ -e /run/agent.stop ]; do sleep 0.2; done      # what `systemctl stop` would be
exec railwright-agent run --controller "$controller" --name "$(hostname)" --state-dir /var/lib/railwright-agent \
  --scan-interval "$scan_interval" --firmware-interval "$firmware_interval" --without-identity-or-encryption >> /run/agent.log 2>&1
