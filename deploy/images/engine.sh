#!/usr/bin/env bash
# A Docker engine, if this machine has none that answers: installs Debian's docker.io as root, starts dockerd in the
# background and waits for it. Prints one line on what it found or did; exit 3 where no engine can be had. Ends nothing.
# Log: /var/log/quelea-dockerd.log, or DOCKERD_LOG. DOCKERD_OPTIONS is added to dockerd's own; with a socket that is not
# the usual one, set DOCKER_HOST to it as well.
set -euo pipefail

log=${DOCKERD_LOG:-/var/log/quelea-dockerd.log}

answers() { timeout 10 docker version --format '{{.Server.Version}}' 2>/dev/null; }

if version=$(answers); then
  echo "docker engine $version answers"
  exit 0
fi
if [ "$(id -u)" != 0 ]; then
  echo "no Docker engine answers, and only root can start one: apt-get install docker.io, then sudo dockerd" >&2
  exit 3
fi
if ! command -v dockerd >/dev/null; then
  if ! command -v apt-get >/dev/null; then
    echo "no Docker engine here: install docker.io (Debian, Ubuntu) or docker-ce, and start it" >&2
    exit 3
  fi
  apt-get update -qq
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends docker.io iptables >/dev/null
  # A package of its own since Debian 13.
  command -v docker >/dev/null || DEBIAN_FRONTEND=noninteractive apt-get install -y -qq docker-cli >/dev/null
fi
if ! version=$(answers); then
  # Away from the caller's terminal and process group: it outlives the script that asked for it.
  # shellcheck disable=SC2086 # several options in one variable
  setsid dockerd ${DOCKERD_OPTIONS:-} >"$log" 2>&1 </dev/null &
  for _ in $(seq 60); do
    if version=$(answers); then
      echo "docker engine $version started (log: $log)"
      exit 0
    fi
    sleep 0.5
  done
  echo "dockerd does not answer after 30 s; the end of its log:" >&2
  tail -5 "$log" >&2
  exit 3
fi
echo "docker engine $version answers"
