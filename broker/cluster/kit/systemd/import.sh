#!/bin/sh
# Fetch exports and load them in one transaction. A file that cannot be fetched ends the script, and nothing is loaded.
set -eu
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
fetch() { curl --silent --show-error --fail --max-time 120 --output "$1" "$2"; }
fetch queues.json "$CRIC_QUEUES"
fetch sites.json "$CRIC_SITES"
fetch storages.json "$CRIC_STORAGES"
fetch states.json "$CRIC_STORAGE_STATES"
fetch closeness.json "$CRIC_CLOSENESS"
fetch metrics.json "$NETWORK_METRICS"
broker load --cric-queues queues.json --cric-sites sites.json --cric-storages storages.json \
  --cric-storage-states states.json --cric-closeness closeness.json --network-metrics metrics.json
