#!/bin/sh
# Installs the Debian packages that building and testing need and that are missing, and says which.
set -eu
want="gcc pkg-config libc6-dev libaio-dev liburing-dev libyaml-dev libsqlite3-dev libjansson-dev libblkid-dev libmount-dev libssl-dev
zlib1g-dev libexpat1-dev libjs-chart.js check sqlite3 e2fsprogs xfsprogs"
missing=
for package in $want; do
        dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing" >&2
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
export DEBIAN_FRONTEND=noninteractive
# shellcheck disable=SC2086
$as_root apt-get install -y -q $missing >&2 || { $as_root apt-get update -q >&2 && $as_root apt-get install -y -q $missing >&2; }
