"""Building the index of a copied shard in a process of its own: the engine stops its whole process meanwhile.

Run as `python -m quelea_retriever.adapters.edge_build FOLDER`.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import os
import signal
import sys
from pathlib import Path

from quelea_kit.errors import Unavailable

from quelea_retriever.adapters.edge_shard import EdgeShard

_NICE = 10
_LIMIT_SECONDS = 6 * 3600
_PR_SET_PDEATHSIG = 1


async def optimize(path: Path) -> None:
    """Build the index of the shard in a folder that nobody has open; Unavailable when it fails."""
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", __name__, str(path), stdin=asyncio.subprocess.DEVNULL, stderr=asyncio.subprocess.PIPE
    )
    try:
        async with asyncio.timeout(_LIMIT_SECONDS):
            _, errors = await process.communicate()
    except BaseException:
        with contextlib.suppress(ProcessLookupError):
            process.kill()
        raise
    if process.returncode:
        last = errors.decode(errors="replace").strip().splitlines()[-1:]
        raise Unavailable(f"The index could not be built (exit code {process.returncode}): {' '.join(last)}")


def main() -> None:
    """Build, and end when the process that asked for it ends."""
    with contextlib.suppress(OSError, AttributeError):  # where there is no prctl, the child just finishes its work
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    os.nice(_NICE)
    shard = EdgeShard.load(Path(sys.argv[1]))
    shard.optimize()
    shard.close()


if __name__ == "__main__":
    main()
