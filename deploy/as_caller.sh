#!/usr/bin/env bash
# Runs a command as the user who called sudo, so that a build leaves no files of root in a user's checkout.
#   deploy/as_caller.sh COMMAND [ARG …]
set -euo pipefail
if [ "$(id -u)" -eq 0 ] && [ -n "${SUDO_USER:-}" ] && [ "$SUDO_USER" != root ]; then
  exec setpriv --reuid "$SUDO_USER" --regid "$(id -g "$SUDO_USER")" --init-groups --reset-env -- \
    env HOME="$(getent passwd "$SUDO_USER" | cut -d: -f6)" PATH="$PATH" "$@"
fi
exec "$@"
