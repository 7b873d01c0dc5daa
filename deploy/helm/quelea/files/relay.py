"""UNIX socket to TCP: relay.py SOCKET HOST:PORT, or relay.py --check SOCKET.

The agent's code is in containers without a network; a socket in a mounted folder is its only way to the market-data
door, which runs in another pod. This copies bytes and reads none of them: the door asks for the run's token.
"""

# ruff: noqa: T201  # a probe or a test says on its output why

import asyncio
import contextlib
import signal
import socket
import sys
from pathlib import Path

CONNECTIONS = 256
CONNECT_SECONDS = 5.0
SILENCE_SECONDS = 120.0
PIECE = 65_536


async def _copy(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    with contextlib.suppress(ConnectionError, TimeoutError):
        while data := await asyncio.wait_for(source.read(PIECE), SILENCE_SECONDS):
            target.write(data)
            await asyncio.wait_for(target.drain(), SILENCE_SECONDS)
    if target.can_write_eof():
        with contextlib.suppress(OSError):
            target.write_eof()


async def serve(path: str, host: str, port: int) -> asyncio.Server:
    """Listen at the socket."""
    places = asyncio.Semaphore(CONNECTIONS)

    async def one(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if places.locked():
                return
            async with places:
                there_reader, there_writer = await asyncio.wait_for(
                    asyncio.open_connection(host, port), CONNECT_SECONDS
                )
                try:
                    await asyncio.gather(_copy(reader, there_writer), _copy(there_reader, writer))
                finally:
                    there_writer.close()
        except (OSError, TimeoutError) as error:
            print(f"door at {host}:{port}: {error}", file=sys.stderr, flush=True)
        finally:
            writer.close()

    Path(path).unlink(missing_ok=True)  # noqa: ASYNC240  # once, before anything is served
    server = await asyncio.start_unix_server(one, path)
    Path(path).chmod(0o666)  # noqa: ASYNC240  # once; the code's user is another one
    return server


async def main(path: str, address: str) -> None:
    """Until SIGTERM."""
    host, _, port = address.rpartition(":")
    stop = asyncio.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    async with await serve(path, host, int(port)):
        await stop.wait()


def check(path: str) -> int:
    """0 when somebody listens there; a probe, which sends nothing."""
    with socket.socket(socket.AF_UNIX) as probe:
        probe.settimeout(3)
        try:
            probe.connect(path)
        except OSError as error:
            print(f"{path}: {error}", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    if sys.argv[1] == "--check":
        sys.exit(check(sys.argv[2]))
    asyncio.run(main(sys.argv[1], sys.argv[2]))
