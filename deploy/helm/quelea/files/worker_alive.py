"""Probe of an ingestion worker: has it given a sign of life in Redis lately? Usage: worker_alive.py ready|live.

live: a Redis that does not answer is no reason to begin again, so it passes. ready: then it does not.
"""

# ruff: noqa: T201  # a probe or a test says on its output why

import os
import socket
import sys

import redis

LONGEST_SILENCE_SECONDS = 120.0


def main(ask: str) -> int:
    """0 when it lives."""
    prefix = os.environ.get("QUELEA_SEARCH_REDIS_PREFIX", "quelea:search")
    me = socket.gethostname()
    try:
        client = redis.Redis.from_url(
            os.environ["QUELEA_SEARCH_REDIS_URL"], decode_responses=True, socket_timeout=3, socket_connect_timeout=3
        )
        seconds, micros = client.time()
        now = seconds + micros / 1e6
        recent = client.zrangebyscore(f"{prefix}:workers", now - LONGEST_SILENCE_SECONDS, "+inf")
    except redis.RedisError as error:
        print(f"Redis does not answer: {error}", file=sys.stderr)
        return 0 if ask == "live" else 1
    # The second is what workers of release 0.1.0 write, which this probe meets during an upgrade.
    if any(name.startswith((f"{me}/", f"{me}:")) for name in recent):
        return 0
    print(f"no sign of life of {me} for {LONGEST_SILENCE_SECONDS:.0f} s", file=sys.stderr)
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
