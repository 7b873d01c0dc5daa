#!/usr/bin/env bash
# A second Docker engine beside the machine's, in one of the ways in which the sandbox may be run; needs root and
# dockerd here. Its socket, data, containerd and logs are its own: the machine's engine is not touched.
#
#   own_engine.sh start plain|userns|gvisor|rootless [IMAGE…]   copies IMAGEs (default quelea-runner:latest) into it,
#                                                               prints lines for `eval`: where it is, what it needs
#   own_engine.sh run   plain|userns|gvisor COMMAND…            starts it, runs a command on it, stops it
#   own_engine.sh stop  plain|userns|gvisor|rootless            ends it and removes everything it had
#
# Folder: /var/lib/quelea-engine-MODE, or below QUELEA_OWN_ENGINES. gvisor and rootless install what they need from Debian
# (runsc; rootlesskit, slirp4netns, uidmap). Exit 3 where such an engine cannot be had.
set -euo pipefail

what=${1:?start, run or stop} mode=${2:?plain, userns, gvisor or rootless}
shift 2
folder=${QUELEA_OWN_ENGINES:-/var/lib}/quelea-engine-$mode
address=unix://$folder/docker.sock
user=quelea-rootless

fail() {
  echo "$1" >&2
  [ -f "$folder/log" ] && tail -5 "$folder/log" >&2
  exit 3
}

install() { # package that has a command
  command -v "$1" >/dev/null && return
  command -v apt-get >/dev/null || fail "$1 is not here, and there is no apt-get"
  apt-get update -qq
  shift
  DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$@" >/dev/null
}

answers() { timeout 10 docker -H "$address" version --format '{{.Server.Version}}' >/dev/null 2>&1; }

alive() { [ -f "$folder/started" ] && kill -0 "$(cat "$folder/started")" 2>/dev/null; }

stop() {
  if alive; then
    docker -H "$address" ps -aq 2>/dev/null | xargs -r docker -H "$address" rm -f >/dev/null 2>&1 || true
    kill "$(cat "$folder/started")"
    for _ in $(seq 60); do alive || break; sleep 0.5; done
  fi
  awk -v here="$folder/" 'index($2, here) == 1 { print $2 }' /proc/mounts | sort -r | xargs -r umount -l
  rm -rf "$folder"
}

case $what in
  stop) stop; exit 0 ;;
  start) ;;
  run)
    told=$("$0" start "$mode")
    trap '"$0" stop "$mode"' EXIT
    eval "$told"
    "$@"
    exit
    ;;
  *) echo "start, run or stop, not $what" >&2; exit 2 ;;
esac
[ "$(id -u)" = 0 ] || fail "only root can start a second engine"
command -v dockerd >/dev/null || fail "dockerd is not here: deploy/images/engine.sh installs it"
alive && fail "$mode runs already; own_engine.sh stop $mode ends it"
stop
mkdir -p "$folder"
options=(--host="$address" --data-root="$folder/data" --exec-root="$folder/exec" --pidfile="$folder/pid"
  --iptables=false --ip6tables=false --containerd-namespace="quelea-$mode" --containerd-plugins-namespace="quelea-$mode-plugins")
more=""
case $mode in
  plain) ;;
  userns) options+=(--userns-remap=default) ;;
  gvisor)
    install runsc runsc
    # ptrace runs where /dev/kvm is of no use. The containers have no network, so neither does gVisor's stack.
    # oci-seccomp: the profile's list of system calls holds within gVisor's kernel as well.
    printf '{"runtimes": {"runsc": {"path": "%s", "runtimeArgs": ["--platform=ptrace", "--network=none", "--oci-seccomp"]}}}' \
      "$(command -v runsc)" >"$folder/daemon.json"
    options+=(--config-file="$folder/daemon.json")
    # gVisor's own threads, and one for each of the code's processes and threads, count as processes of the container.
    more="export QUELEA_SANDBOX_RUNTIME=runsc QUELEA_SANDBOX_PIDS=200"
    ;;
  rootless)
    install rootlesskit rootlesskit slirp4netns
    install newuidmap uidmap
    id "$user" >/dev/null 2>&1 || useradd --system --create-home --home-dir "/var/lib/$user" --add-subids-for-system "$user"
    grep -q "^$user:" /etc/subuid || usermod --add-subuids 300000-365535 --add-subgids 300000-365535 "$user"
    chown "$user" "$folder"
    ;;
  *) echo "no such engine: $mode" >&2; exit 2 ;;
esac
if [ "$mode" = rootless ]; then
  script=$(command -v dockerd-rootless.sh || echo /usr/share/docker.io/contrib/dockerd-rootless.sh)
  setsid setpriv --reuid "$user" --regid "$user" --init-groups env -i PATH="$PATH" HOME="/var/lib/$user" \
    XDG_RUNTIME_DIR="$folder" sh "$script" --host="$address" --data-root="$folder/data" --exec-root="$folder/exec" \
    --pidfile="$folder/pid" --iptables=false --ip6tables=false >"$folder/log" 2>&1 </dev/null &
else
  setsid dockerd "${options[@]}" >"$folder/log" 2>&1 </dev/null &
fi
echo $! >"$folder/started"
for _ in $(seq 80); do
  answers && break
  alive || fail "the $mode engine ended; the end of its log:"
  sleep 0.5
done
answers || fail "the $mode engine does not answer after 40 s; the end of its log:"
for image in "${@:-quelea-runner:latest}"; do
  docker save "$image" | docker -H "$address" load -q >&2
done
echo "export QUELEA_SANDBOX_DOCKER_HOST=$address"
[ -z "$more" ] || echo "$more"
