"""python -m quelea_cli.sample_web --port PORT --folder samples/web: serve it until SIGTERM."""

from __future__ import annotations

import argparse
import signal
import sys
import threading
from pathlib import Path

from quelea_cli.errors import CliError
from quelea_cli.places import samples
from quelea_cli.sample_web.server import SampleWeb
from quelea_cli.sample_web.site import HOSTS, load


def main() -> None:
    """Serve until a signal comes."""
    parser = argparse.ArgumentParser(prog="python -m quelea_cli.sample_web", description=__doc__)
    parser.add_argument("--port", type=int, default=0, help="On 127.0.0.1; 0 takes a free one.")
    parser.add_argument("--folder", type=Path, default=samples() / "web")
    given = parser.parse_args()
    ended = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: ended.set())
    try:
        web = SampleWeb(load(given.folder), given.port)
    except CliError as error:
        sys.exit(error.message)
    with web:
        sites = ", ".join(f"http://{host}:{web.server_port}/" for host in HOSTS)
        print(f"sample web ready: {sites}; search at {web.search_url}/search?format=json&q=", flush=True)
        ended.wait()


if __name__ == "__main__":
    main()
