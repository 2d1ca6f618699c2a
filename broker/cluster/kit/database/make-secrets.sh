#!/bin/sh
# Make a folder with passwords and secrets, each in a file that only its owner can read. Existing files stay.
# Usage: sh make-secrets.sh FOLDER HOST [PORT]     HOST and PORT are those of the PostgreSQL server.
set -eu
[ $# -ge 2 ] || { echo "usage: sh make-secrets.sh FOLDER HOST [PORT]" >&2; exit 2; }
folder=$1 host=$2 port=${3:-5432}
mkdir -p "$folder"
cd "$folder"
umask 077
missing() { [ ! -s "$1" ]; }

for name in dba serve run view grafana; do
  ! missing "${name}_password" || openssl rand -hex 24 > "${name}_password"
done

# A service file of libpq (PGSERVICEFILE), by which a login finds the database.
entry() {
  missing "$1.conf" || grep -qx "host=$host" "$1.conf" || echo "$folder/$1.conf stays, and has another host" >&2
  ! missing "$1.conf" || cat > "$1.conf" <<END
[pgbroker]
host=$host
port=$port
dbname=broker
user=$2
password=$(cat "$1_password")
END
}
entry dba broker_dba
entry serve broker_service
entry run pgbroker_run

# With this secret the web server proves that the headers about a client certificate are its own.
! missing service.secret || openssl rand -hex 32 > service.secret
echo "proxy_set_header X-SSL-Client-Secret $(cat service.secret);" > secret.nginx

# `broker credential token` fills it.
touch prometheus.token
