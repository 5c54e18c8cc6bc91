#!/usr/bin/env bash
# Builds the .deb packages (controller, agent, railctl) into build/packages, as the calling user.
set -euo pipefail
cd "$(dirname "$0")/.."
RAILWRIGHT_CMAKE_ARGS="-DRAILWRIGHT_TESTS=OFF" deploy/build.sh release
deploy/as_caller.sh rm -rf build/packages
deploy/as_caller.sh sh -c 'umask 022; cd build/release && cpack -G DEB -B "$0/build/packages"' "$PWD" >&2
ls build/packages/*.deb
