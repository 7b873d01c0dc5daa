"""Starts processes, waits until they are ready, restarts those that die, and stops them in order."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from quelea_cli.errors import CliError
from quelea_cli.stack.guard import Guard
from quelea_cli.stack.home import Home, ProcessRecord, StackRecord, start_time
from quelea_cli.stack.logs import Logs, last_value, readable
from quelea_cli.stack.model import Policy, Service
from quelea_cli.stack.probes import Probe

_HERE = Path(__file__).parent
_ME = "quelea"
_MAX_LINE = 64 * 1024
_WHY = 1000
"""Characters of a service's own reason, which ends with what to do."""


@dataclass
class _Child:
    service: Service
    process: asyncio.subprocess.Process | None = None
    was_ready: bool = False
    said_ready: bool = False
    deaths: deque[float] = field(default_factory=deque)
    task: asyncio.Task[None] | None = None
    pump: asyncio.Task[None] | None = None
    watch: asyncio.Task[None] | None = None


class Supervisor:
    """Runs the services of one stack; the caller holds the home's lock.

    Args:
        services: What to run.
        home: Where the record is kept.
        logs: Takes every line of every process.
        url: Where the stack answers, for the record.
        policy: Restarts and deadlines.
        progress: Told one line whenever something happens that a user waits for.
    """

    def __init__(
        self,
        services: list[Service],
        home: Home,
        logs: Logs,
        *,
        url: str = "",
        policy: Policy | None = None,
        progress: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._home = home
        self._logs = logs
        self._policy = policy or Policy()
        self._progress = progress
        self._children = {service.name: _Child(service) for service in services}
        self._record = StackRecord(os.getpid(), start_time(os.getpid()), url)
        self._failure: CliError | None = None
        self._failed = asyncio.Event()
        self._guard = Guard()
        self._stopping = asyncio.Event()
        self._saved = True
        self._watches: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Start everything; returns when all are ready, raises CliError when one cannot be."""
        self._guard.start()
        began = time.monotonic()
        for group in sorted({child.service.start_group for child in self._children.values()}):
            members = [child for child in self._children.values() if child.service.start_group == group]
            for child in members:
                child.task = asyncio.create_task(self._keep(child))
            ready = asyncio.ensure_future(self._all_ready(members, began))
            await _first(ready, asyncio.ensure_future(self._failed.wait()))
            if self._failure:
                raise self._failure
            await ready
        self._record.state = "ready"
        self._save()
        self._watches = [asyncio.create_task(self._watch(child)) for child in self._children.values()]

    async def run(self) -> None:
        """Until cancelled; raises CliError when a process could not be kept alive."""
        await self._failed.wait()
        if self._failure:
            raise self._failure

    async def stop(self, now: asyncio.Event | None = None) -> None:
        """SIGTERM group by group, SIGKILL for what does not end in its grace, or at once when `now` is set."""
        self._stopping.set()
        for watch in self._watches:
            watch.cancel()
        await asyncio.gather(*self._watches, return_exceptions=True)
        self._record.state = "stopping"
        self._save()
        now = now or asyncio.Event()
        for group in sorted({child.service.stop_group for child in self._children.values()}):
            members = [child for child in self._children.values() if child.service.stop_group == group]
            await asyncio.gather(*(self._end(child, now) for child in members))
        await self._guard.stop()
        with contextlib.suppress(OSError):  # read-only now; the pids in it are known to have ended
            self._home.clear()

    async def _keep(self, child: _Child) -> None:
        """Start one process again and again until the stack stops or the policy says no more."""
        name = child.service.name
        while not self._stopping.is_set():
            try:
                process = await self._spawn(child)
            except OSError as error:  # no memory or no descriptor just now
                if not child.was_ready:
                    self._fail(child, error.strerror or str(error))
                    return
                self._logs.line(_ME, f"{name} cannot be started: {error}")
                await self._pause(self._policy.back_off[-1])
                continue
            if self._stopping.is_set():  # it came too late for stop() to see it
                process.kill()
            code = await process.wait()
            self._finish_group(process.pid)
            if child.pump:  # its last lines; a stranger that took the pipe along must not hold us up
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(child.pump, 2)
            if self._stopping.is_set():
                return
            how = f"signal {signal.Signals(-code).name}" if code < 0 else f"exit code {code}"
            now = time.monotonic()
            child.deaths.append(now)
            if child.was_ready and not await asyncio.to_thread(self._home.is_writable):
                self._logs.line(_ME, f"{name} ended ({how}); {self._home.root} cannot be written to")
                self._mark(name, state="restarting", restarts=self._record.services[name].restarts + 1)
                child.deaths.clear()  # not the process's fault, and over when there is space: never given up
                await self._pause(self._policy.back_off[-1])
                continue
            while child.deaths[0] < now - self._policy.window_seconds:
                child.deaths.popleft()
            limit = self._policy.restarts if child.was_ready else self._policy.first_starts - 1
            if len(child.deaths) > limit:
                self._fail(child, how)
                return
            pause = self._policy.back_off[min(len(child.deaths), len(self._policy.back_off)) - 1]
            self._logs.line(_ME, f"{name} ended ({how}); restart {len(child.deaths)} of {limit} in {pause:.1f} s")
            self._mark(name, state="restarting", restarts=self._record.services[name].restarts + 1)
            await self._pause(pause)

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._stopping.wait(), seconds)

    async def _watch(self, child: _Child) -> None:
        """Keep the record true, and kill what no longer answers: its restart is the same as of one that died.

        Failures are counted, not seconds: a machine that slept or stood still must not cost a healthy process its life.
        A process that answers and is not ready waits for another one, and would gain nothing from a restart.
        """
        name, live, asked, silent = child.service.name, child.service.live, child.process, 0
        while True:
            await asyncio.sleep(self._policy.watch_seconds)
            if not self._saved:
                self._save()
            process, one = child.process, self._record.services[name]
            if process is None or process.returncode is not None or (child.watch and not child.watch.done()):
                continue  # it is away, or still has the time that a start has
            if process is not asked:
                asked, silent = process, 0
            state = "ready" if await self._is_ready(child) else "unready"
            if process.returncode is None and state != one.state:
                self._mark(name, state=state)
                self._logs.line(_ME, f"{name} is {state}")
            silent = 0 if state == "ready" or live is None or await _answers(live) else silent + 1
            if silent >= self._policy.silent_times:
                self._logs.line(_ME, f"{name} did not answer {silent} times in a row; killed")
                silent = 0
                with contextlib.suppress(ProcessLookupError):
                    process.kill()

    async def _spawn(self, child: _Child) -> asyncio.subprocess.Process:
        service = child.service
        launcher = (sys.executable, "-I", "-S", str(_HERE / "launch.py"), str(os.getpid()))
        # A pipe of our own: asyncio's would make wait() wait for every child that holds it, too.
        reader, writer = os.pipe()
        process = await asyncio.create_subprocess_exec(
            *launcher,
            *service.command,
            env=dict(service.env),
            cwd=self._home.root,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=writer,
            stderr=writer,
            start_new_session=True,  # Ctrl-C on the terminal must reach the supervisor only: it knows the order
        )
        os.close(writer)
        child.said_ready = False
        child.process, child.pump = process, asyncio.create_task(self._pump(child, reader))
        self._guard.add(process.pid)
        previous = self._record.services.get(service.name)
        self._record.services[service.name] = ProcessRecord(
            process.pid, start_time(process.pid), service.port, restarts=previous.restarts if previous else 0
        )
        self._save()
        if child.was_ready:
            child.watch = asyncio.create_task(self._note_return(child, process))
        return process

    async def _note_return(self, child: _Child, process: asyncio.subprocess.Process) -> None:
        end = time.monotonic() + max(self._policy.start_seconds, child.service.start_seconds)
        while process.returncode is None and time.monotonic() < end:
            if await self._is_ready(child):
                self._mark(child.service.name, state="ready")
                self._logs.line(_ME, f"{child.service.name} is back")
                return
            await asyncio.sleep(self._policy.probe_seconds)

    async def _pump(self, child: _Child, descriptor: int) -> None:
        """Hand on every line until all who hold the pipe have closed it."""
        stream = asyncio.StreamReader(limit=_MAX_LINE)
        with os.fdopen(descriptor, "rb", buffering=0) as pipe:
            transport, _ = await asyncio.get_running_loop().connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(stream), pipe
            )
            try:
                while (text := await _read_line(stream)) is not None:
                    self._logs.line(child.service.name, text)
                    if child.service.ready_line and child.service.ready_line in text:
                        child.said_ready = True
            finally:
                transport.close()

    async def _all_ready(self, members: list[_Child], began: float) -> None:
        # One for all: the gateway waits for the others that start with it, and is not to give up before they do.
        patience = max(self._policy.start_seconds, *(child.service.start_seconds for child in members))
        async with asyncio.TaskGroup() as group:
            for child in members:
                group.create_task(self._until_ready(child, began, patience))

    async def _until_ready(self, child: _Child, began: float, patience: float) -> None:
        name = child.service.name
        end = time.monotonic() + patience
        while not await self._is_ready(child):
            if last_value(self._logs.tail(name), "not_serving", "lasting"):
                why = last_value(self._logs.tail(name), "not_serving", "why").removeprefix("Conflict: ")
                self._give_up(CliError(f"{name} cannot be ready: {why[:_WHY]} Its log: {self._logs.path(name)}"))
                return
            if time.monotonic() > end:
                self._give_up(self._late(child, patience))
                return
            await asyncio.sleep(self._policy.probe_seconds)
        child.was_ready = True
        self._mark(name, state="ready")
        self._progress(f"{name} is ready ({time.monotonic() - began:.1f} s)")

    async def _is_ready(self, child: _Child) -> bool:
        if child.process is None or child.process.returncode is not None:
            return False
        return await _answers(child.service.probe) if child.service.probe else child.said_ready

    def _late(self, child: _Child, patience: float) -> CliError:
        """The error for a start that takes too long; it names the first process that says what it waits for.

        The gateway waits for all others, so that its own reason is seldom the reason.
        """
        unready = [one.service.name for one in self._children.values() if not one.was_ready]
        reasons = ((name, last_value(self._logs.tail(name), "not_serving", "why")) for name in unready)
        name, why = next((told for told in reasons if told[1]), (child.service.name, ""))
        because = f": {why[:_WHY]}" if why else "."
        return CliError(f"{name} was not ready within {patience:.0f} s{because} Its log: {self._logs.path(name)}")

    def _fail(self, child: _Child, how: str) -> None:
        name = child.service.name
        last = next((text for text in (readable(line)[1] for line in reversed(self._logs.tail(name))) if text), "")
        often = "keeps ending" if child.was_ready else "cannot start"
        self._give_up(CliError(f"{name} {often} ({how}): {last.strip()[:300]} · Its log: {self._logs.path(name)}"))

    def _give_up(self, error: CliError) -> None:
        self._failure = self._failure or error
        self._failed.set()

    async def _end(self, child: _Child, now: asyncio.Event) -> None:
        """SIGTERM to the process itself (it knows its own children), SIGKILL to its whole group at last."""
        process = child.process
        if process and process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                process.send_signal(signal.SIGKILL if now.is_set() else signal.SIGTERM)
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(child.service.grace_seconds):
                    await _first(asyncio.ensure_future(process.wait()), asyncio.ensure_future(now.wait()))
            if process.returncode is None and not now.is_set():
                self._logs.line(_ME, f"{child.service.name} did not stop in time; killed")
        if process:
            self._finish_group(process.pid)
        if child.task:
            with contextlib.suppress(asyncio.CancelledError, TimeoutError):
                await asyncio.wait_for(child.task, 5)
        if process:
            self._mark(child.service.name, state="stopped")

    def _finish_group(self, group: int) -> None:
        """Kill whatever a process that has ended left behind."""
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(group, signal.SIGKILL)
        self._guard.remove(group)

    def _mark(self, name: str, *, state: str, restarts: int | None = None) -> None:
        one = self._record.services[name]
        one.state = state
        if restarts is not None:
            one.restarts = restarts
        self._save()

    def _save(self) -> None:
        """Write the record; one that a full disk does not take is written again when it can be."""
        try:
            self._home.write(self._record)
            self._saved = True
        except OSError as error:
            if self._saved:
                self._logs.line(_ME, f"the record of {self._home.root} cannot be written: {error.strerror}")
            self._saved = False


async def _answers(probe: Probe) -> bool:
    try:
        return await probe()
    except Exception:  # noqa: BLE001  # whatever it is, the answer is no; the process's log says why
        return False


async def _first(*tasks: asyncio.Future[Any]) -> None:
    """Wait until one of them is done; the others are cancelled and have ended."""
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _read_line(stream: asyncio.StreamReader) -> str | None:
    """The next line without its end; an over-long one comes in pieces; None at the end."""
    try:
        raw = await stream.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        raw = error.partial
        if not raw:
            return None
    except asyncio.LimitOverrunError as error:
        raw = await stream.readexactly(error.consumed or 1)
    return raw.decode(errors="replace").rstrip("\r\n")
