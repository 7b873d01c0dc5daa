#!/bin/sh
# A member of a Qdrant cluster: the first makes it, the others join it. One member alone is a cluster of one.
set -eu
peer() { echo "${QUELEA_QDRANT_SCHEME:-http}://${QUELEA_QDRANT_PEERS}-$1.${QUELEA_QDRANT_PEERS}:6335"; }
number="${HOSTNAME##*-}"
cd /qdrant
if [ "$number" = 0 ]; then
  exec ./qdrant --uri "$(peer 0)"
fi
exec ./qdrant --bootstrap "$(peer 0)" --uri "$(peer "$number")"
