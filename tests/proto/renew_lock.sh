#!/usr/bin/env bash
# Makes proto/lock.binpb the tree's own descriptors: at a release, when additions become promises.
# It refuses while something of the last release is broken; --break renews it all the same.
set -euo pipefail
cd "$(dirname "$0")/../.."
preset=dev
test -d build/$preset || cmake --preset $preset >/dev/null
cmake --build --preset $preset --target rw_proto_descriptor proto_lock_test
if [ "${1:-}" != --break ] && [ -f proto/lock.binpb ]; then
  build/$preset/bin/proto_lock_test --gtest_brief=1 || {
    echo "renew_lock: the tree breaks the last release (above). Mend it, or give --break and raise the wire revision." >&2
    exit 1
  }
fi
cp build/$preset/proto/current.binpb proto/lock.binpb
echo "renew_lock: proto/lock.binpb is renewed; commit it" >&2
