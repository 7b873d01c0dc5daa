"""What each service of `quelea up` needs: memory and processor, over the samples. For the requests of the chart.

PYTHONPATH=tests python tests/load/resources.py [--questions 200] [--at-once 4]

A stack of its own reads all samples, then answers questions. Memory is that of a service's processes together (pages
that they share count once), sampled twice a second; processor time is the kernel's, so a busy machine makes it slower
and no larger. On a cluster what files are mapped is charged too, as here.
"""

from __future__ import annotations

import argparse
import contextlib
import functools
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
from support.stack import SAMPLES, Stack

SAMPLE_SECONDS = 0.5
FOLDERS = ("filings", "news", "reports")
QUESTIONS = (
    "What were Apple's total net sales in the third quarter of fiscal 2023?",
    "What was Microsoft's operating income in fiscal 2023 Q4?",
    "2023年第三季度，三星的智能手机出货量是多少？",
    "How did NVIDIA's data center revenue change in the first quarter of fiscal 2024?",
)


def memory(pid: int) -> int:
    """Resident bytes of a process and all below it; what they share counts once."""
    own, shared = 0, 0
    first = psutil.Process(pid)
    for one in (first, *first.children(recursive=True)):
        with contextlib.suppress(psutil.Error):  # it has just ended
            sizes = one.memory_info()
            own, shared = own + sizes.rss - sizes.shared, max(shared, sizes.shared)
    return own + shared


def cpu(pid: int) -> float:
    """Processor seconds of a process and all below it, those that have ended too."""
    first = psutil.Process(pid)
    seconds = 0.0
    for one in (first, *first.children(recursive=True)):
        with contextlib.suppress(psutil.Error):
            times = one.cpu_times()
            seconds += times.user + times.system + times.children_user + times.children_system
    return seconds


class Sampler(threading.Thread):
    """The most memory of each service since it was last asked."""

    def __init__(self, stack: Stack) -> None:
        super().__init__(daemon=True)
        self._pids = stack.pids
        self._most: dict[str, int] = {}
        self._ended = threading.Event()

    def run(self) -> None:
        while not self._ended.wait(SAMPLE_SECONDS):
            self._look()

    def _look(self) -> None:
        for name, pid in self._pids.items():
            self._most[name] = max(self._most.get(name, 0), memory(pid))

    def take(self) -> dict[str, int]:
        """Peaks, and begin again."""
        self._look()
        taken, self._most = self._most, {}
        return taken

    def cpu(self) -> dict[str, float]:
        return {name: cpu(pid) for name, pid in self._pids.items()}

    def stop(self) -> None:
        self._ended.set()
        self.join()


def main() -> None:
    """Print a table of Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="quelea-resources-") as folder:
        stack = Stack(Path(folder), environment={"MALLOC_ARENA_MAX": "4"})
        sampler = Sampler(stack)
        sampler.start()
        try:
            idle, at_first = sampler.take(), sampler.cpu()
            folders = [str(SAMPLES / name) for name in FOLDERS]
            subprocess.run([sys.executable, "-m", "quelea_cli", "ingest", *folders, "--url", stack.url], check=True)
            documents = len(stack.documents())
            reading, after_reading = sampler.take(), sampler.cpu()
            with ThreadPoolExecutor(options.at_once) as pool:
                list(pool.map(stack.ask, (QUESTIONS[i % len(QUESTIONS)] for i in range(options.questions))))
            answering, at_last = sampler.take(), sampler.cpu()
        finally:
            sampler.stop()
            stack.stop()
    show = functools.partial(print, flush=True)
    show(f"{documents} documents; {options.questions} questions, {options.at_once} at once")
    show("| service | at rest, MiB | most, reading | most, answering | processor seconds, reading | ms a question |")
    show("|---|---|---|---|---|---|")
    for name in sorted(idle, key=lambda one: -reading[one]):
        read, asked = after_reading[name] - at_first[name], at_last[name] - after_reading[name]
        sizes = " | ".join(f"{one[name] / 2**20:.0f}" for one in (idle, reading, answering))
        show(f"| {name} | {sizes} | {read:.1f} | {1000 * asked / options.questions:.1f} |")


if __name__ == "__main__":
    main()
