"""The supervisor, with small processes in place of the services."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from pathlib import Path

import pytest
from quelea_cli.errors import CliError
from quelea_cli.stack.home import Home, is_same_process, start_time
from quelea_cli.stack.logs import Logs
from quelea_cli.stack.model import Policy, Service
from quelea_cli.stack.supervisor import Supervisor
from quelea_kit.testing import wait_until, wait_until_async

QUICK = Policy(start_seconds=120, restarts=2, back_off=(0.05,), probe_seconds=0.02)
SLEEPER = """
import signal, sys, time, pathlib
def bye(*_):
    with open({order!r}, "a") as f: f.write({name!r} + "\\n")
    sys.exit(0)
signal.signal(signal.SIGTERM, bye)
print("hello from", {name!r}, flush=True)
pathlib.Path({ready!r}).write_text("x")
time.sleep(600)
"""


def script(folder: Path, name: str, body: str, **more: object) -> Service:
    ready = folder / f"{name}.ready"

    async def probe() -> bool:
        return ready.exists()

    return Service(name, (sys.executable, "-I", "-S", "-c", textwrap.dedent(body)), dict(os.environ), probe, **more)  # type: ignore[arg-type]


def sleeper(folder: Path, name: str, **more: object) -> Service:
    body = SLEEPER.format(order=str(folder / "order"), ready=str(folder / f"{name}.ready"), name=name)
    return script(folder, name, body, **more)


@contextlib.asynccontextmanager
async def supervised(folder: Path, services: list[Service], policy: Policy = QUICK) -> AsyncIterator[Supervisor]:
    home = Home(folder / "home")
    home.create()
    logs = Logs(home.logs)
    supervisor = Supervisor(services, home, logs, policy=policy)
    try:
        yield supervisor
    finally:
        await supervisor.stop()
        logs.close()


def pid_of(folder: Path, name: str) -> int:
    record = Home(folder / "home").read()
    return record.services[name].pid if record and name in record.services else 0


def said(folder: Path) -> str:
    log = folder / "home/logs/quelea.log"
    return log.read_text() if log.exists() else ""


async def test_all_start_and_stop_in_order(tmp_path: Path) -> None:
    services = [
        sleeper(tmp_path, "redis", stop_group=3),
        sleeper(tmp_path, "door"),
        sleeper(tmp_path, "b", stop_group=2),
    ]
    async with supervised(tmp_path, services) as supervisor:
        await supervisor.start()
        record = Home(tmp_path / "home").read()
        assert record
        assert record.state == "ready"
        assert {name: one.state for name, one in record.services.items()} == dict.fromkeys(
            ("redis", "door", "b"), "ready"
        )
        pids = [one.pid for one in record.services.values()]
    assert (tmp_path / "order").read_text().split() == ["door", "b", "redis"]
    assert not any(start_time(pid) for pid in pids)
    assert Home(tmp_path / "home").read() is None
    assert "hello from door" in (tmp_path / "home/logs/door.log").read_text()


async def test_a_later_group_waits_for_the_earlier(tmp_path: Path) -> None:
    late = script(
        tmp_path, "late",
        f"import pathlib,sys,time\nif not pathlib.Path({str(tmp_path / 'first.ready')!r}).exists(): sys.exit(3)\n"
        f"pathlib.Path({str(tmp_path / 'late.ready')!r}).touch(); time.sleep(600)",
        start_group=2,
    )  # fmt: skip
    async with supervised(tmp_path, [late, sleeper(tmp_path, "first", start_group=1)]) as supervisor:
        await supervisor.start()


async def test_one_that_nobody_can_ask_is_ready_when_it_says_so(tmp_path: Path) -> None:
    body = "import time\nprint('loading', flush=True)\nprint('now ready_to_work', flush=True)\ntime.sleep(600)"
    service = Service("mute", (sys.executable, "-I", "-S", "-c", body), dict(os.environ), ready_line="ready_to_work")
    async with supervised(tmp_path, [service]) as supervisor:
        await supervisor.start()
        assert "now ready_to_work" in (tmp_path / "home/logs/mute.log").read_text()


async def test_a_killed_process_comes_back(tmp_path: Path) -> None:
    async with supervised(tmp_path, [sleeper(tmp_path, "one")]) as supervisor:
        await supervisor.start()
        first = pid_of(tmp_path, "one")
        os.kill(first, signal.SIGKILL)
        await wait_until_async(lambda: pid_of(tmp_path, "one") not in (0, first))
        record = Home(tmp_path / "home").read()
        assert record
        assert record.services["one"].restarts == 1
    assert "one ended (signal SIGKILL)" in (tmp_path / "home/logs/quelea.log").read_text()


async def test_one_that_keeps_dying_ends_the_run_and_names_its_log(tmp_path: Path) -> None:
    async with supervised(tmp_path, [sleeper(tmp_path, "one")]) as supervisor:
        await supervisor.start()

        async def killer() -> None:
            while True:
                if pid := pid_of(tmp_path, "one"):  # 0 is this process and all of its group
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, signal.SIGKILL)
                await asyncio.sleep(0.02)

        task = asyncio.create_task(killer())
        with pytest.raises(CliError, match=r"one keeps ending .*one\.log"):
            await asyncio.wait_for(supervisor.run(), 60)
        task.cancel()


async def test_a_record_that_cannot_be_written_is_written_later(tmp_path: Path) -> None:
    quick = replace(QUICK, watch_seconds=0.05)
    async with supervised(tmp_path, [sleeper(tmp_path, "one")], quick) as supervisor:
        await supervisor.start()
        first, run = pid_of(tmp_path, "one"), tmp_path / "home/run"
        run.rename(tmp_path / "away")
        os.kill(first, signal.SIGKILL)
        await wait_until_async(lambda: "cannot be written" in said(tmp_path))
        (tmp_path / "away").rename(run)
        await wait_until_async(lambda: pid_of(tmp_path, "one") not in (0, first))


async def test_deaths_on_a_full_disk_are_never_the_last(tmp_path: Path) -> None:
    quick = replace(QUICK, restarts=1, back_off=(0.01,), watch_seconds=0.05)
    async with supervised(tmp_path, [sleeper(tmp_path, "one")], quick) as supervisor:
        await supervisor.start()
        run = tmp_path / "home/run"
        run.rename(tmp_path / "away")
        for deaths in range(1, 5):
            one = supervisor._record.services["one"]
            await wait_until_async(lambda was=deaths - 1: supervisor._record.services["one"].restarts == was)
            await wait_until_async(lambda: start_time(supervisor._record.services["one"].pid) != "")
            os.kill(supervisor._record.services["one"].pid, signal.SIGKILL)
            await wait_until_async(lambda was=deaths: said(tmp_path).count("cannot be written to") == was)
            assert one.restarts <= deaths
        (tmp_path / "away").rename(run)
        await wait_until_async(lambda: bool(start_time(pid_of(tmp_path, "one"))))


async def test_one_that_is_silent_is_killed_and_one_that_only_waits_is_not(tmp_path: Path) -> None:
    quick = replace(QUICK, watch_seconds=0.05, silent_times=3)

    async def answers() -> bool:
        return not (tmp_path / "silent").exists()

    one = replace(sleeper(tmp_path, "one"), live=answers)
    async with supervised(tmp_path, [one], quick) as supervisor:
        await supervisor.start()
        first = pid_of(tmp_path, "one")
        (tmp_path / "one.ready").unlink()
        await wait_until_async(lambda: supervisor._record.services["one"].state == "unready")
        await asyncio.sleep(quick.watch_seconds * quick.silent_times * 3)
        assert pid_of(tmp_path, "one") == first
        (tmp_path / "silent").touch()
        await wait_until_async(lambda: pid_of(tmp_path, "one") not in (0, first))
        assert "did not answer 3 times in a row" in (tmp_path / "home/logs/quelea.log").read_text()


async def test_one_that_cannot_start_says_why(tmp_path: Path) -> None:
    broken = script(tmp_path, "broken", "import sys; sys.exit('the model folder is missing')")
    async with supervised(tmp_path, [sleeper(tmp_path, "fine"), broken]) as supervisor:
        with pytest.raises(CliError, match=r"broken cannot start \(exit code 1\): the model folder is missing"):
            await supervisor.start()


async def test_one_that_is_never_ready_ends_the_start(tmp_path: Path) -> None:
    never = script(tmp_path, "never", "import time; time.sleep(600)")
    async with supervised(tmp_path, [never], Policy(start_seconds=0.3, probe_seconds=0.02)) as supervisor:
        with pytest.raises(CliError, match=r"never was not ready within 0 s"):
            await supervisor.start()


async def test_what_waiting_does_not_mend_ends_the_start_at_once(tmp_path: Path) -> None:
    stuck = script(tmp_path, "stuck", "import time; time.sleep(600)")
    what_to_do = "Take a set that belongs together with `quelea models activate SET`."
    why = f"Conflict: {'The gate is of another encoder. ' * 20}{what_to_do}"
    async with supervised(tmp_path, [stuck], Policy(start_seconds=600, probe_seconds=0.02)) as supervisor:
        supervisor._logs.line("stuck", json.dumps({"event": "not_serving", "why": why, "lasting": True}))
        with pytest.raises(CliError, match=rf"stuck cannot be ready: The gate .*{what_to_do} Its log: "):
            async with asyncio.timeout(60):
                await supervisor.start()


async def test_a_start_that_takes_too_long_names_who_says_why(tmp_path: Path) -> None:
    both = [script(tmp_path, name, "import time; time.sleep(600)") for name in ("waits", "cause")]
    async with supervised(tmp_path, both, Policy(start_seconds=0.3, probe_seconds=0.02)) as supervisor:
        supervisor._logs.line("cause", '{"event": "not_serving", "why": "the endpoint refuses our key."}')
        with pytest.raises(
            CliError, match=r"cause was not ready within 0 s: the endpoint refuses our key\. .*cause\.log"
        ):
            await supervisor.start()


async def test_one_that_waits_for_another_does_not_give_up_before_it(tmp_path: Path) -> None:
    late = "import pathlib, time; time.sleep(0.6); [pathlib.Path(one).write_text('') for one in {!r}]; time.sleep(600)"
    ready = [str(tmp_path / f"{name}.ready") for name in ("waits", "slow")]
    waits = script(tmp_path, "waits", "import time; time.sleep(600)")
    slow = script(tmp_path, "slow", late.format(ready), start_seconds=60)
    async with supervised(tmp_path, [waits, slow], Policy(start_seconds=0.3, probe_seconds=0.02)) as supervisor:
        await supervisor.start()


async def test_one_that_ignores_sigterm_is_killed(tmp_path: Path) -> None:
    body = (
        "import signal,time,pathlib\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\n"
        f"pathlib.Path({str(tmp_path / 'deaf.ready')!r}).touch()\ntime.sleep(600)"
    )
    async with supervised(tmp_path, [script(tmp_path, "deaf", body, grace_seconds=0.2)]) as supervisor:
        await supervisor.start()
        pid = pid_of(tmp_path, "deaf")
    assert not start_time(pid)
    assert "deaf did not stop in time; killed" in (tmp_path / "home/logs/quelea.log").read_text()


async def test_children_of_a_dead_process_die_too(tmp_path: Path) -> None:
    body = (
        "import subprocess,sys,time,pathlib\n"
        "p = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)'])\n"
        f"pathlib.Path({str(tmp_path / 'new')!r}).write_text(str(p.pid))\n"
        f"pathlib.Path({str(tmp_path / 'new')!r}).rename({str(tmp_path / 'parent.ready')!r})\ntime.sleep(600)"
    )
    async with supervised(tmp_path, [script(tmp_path, "parent", body)]) as supervisor:
        await supervisor.start()
        grandchild = int((tmp_path / "parent.ready").read_text())
        assert start_time(grandchild)
        os.kill(pid_of(tmp_path, "parent"), signal.SIGKILL)
        await wait_until_async(lambda: not start_time(grandchild))


async def test_long_lines_and_bytes_that_are_no_text_reach_the_log(tmp_path: Path) -> None:
    body = (
        "import sys,time,pathlib\nout = sys.stdout.buffer\n"
        "out.write(b'x' * 300_000 + b'\\n\\xff\\xfe end\\n'); out.flush()\n"
        f"pathlib.Path({str(tmp_path / 'loud.ready')!r}).touch()\ntime.sleep(600)"
    )
    async with supervised(tmp_path, [script(tmp_path, "loud", body)]) as supervisor:
        await supervisor.start()
        log = tmp_path / "home/logs/loud.log"
        await wait_until_async(lambda: "end" in log.read_text())
        assert log.read_text().count("x") == 300_000


SUPERVISOR = """
import asyncio, os, sys
from pathlib import Path
from quelea_cli.stack.home import Home
from quelea_cli.stack.logs import Logs
from quelea_cli.stack.model import Service
from quelea_cli.stack.supervisor import Supervisor

async def main():
    folder = Path(sys.argv[1])
    home = Home(folder / "home")
    async def probe(): return (folder / "ready").exists()
    body = (
        "import subprocess,sys,time,pathlib\\n"
        "p = subprocess.Popen([sys.executable, '-I', '-S', '-c', 'import time; time.sleep(600)'])\\n"
        f"pathlib.Path({str(folder / 'new')!r}).write_text(str(p.pid))\\n"
        f"pathlib.Path({str(folder / 'new')!r}).rename({str(folder / 'ready')!r})\\ntime.sleep(600)"
    )
    with home.locked():
        one = Service("one", (sys.executable, "-I", "-S", "-c", body), dict(os.environ), probe)
        await Supervisor([one], home, Logs(home.logs)).start()
        await asyncio.sleep(600)

asyncio.run(main())
"""


def test_nothing_outlives_a_killed_supervisor(tmp_path: Path) -> None:
    supervisor = subprocess.Popen([sys.executable, "-c", SUPERVISOR, str(tmp_path)])
    try:
        home = Home(tmp_path / "home")
        is_ready: Callable[[], bool] = lambda: bool((record := home.read()) and record.state == "ready")  # noqa: E731
        wait_until(is_ready, what="the supervisor")
        record = home.read()
        assert record
        assert home.is_locked()
        pids = [record.services["one"].pid, int((tmp_path / "ready").read_text())]
        assert all(start_time(pid) for pid in pids)
    finally:
        supervisor.kill()
        supervisor.wait()
    wait_until(lambda: not any(start_time(pid) for pid in pids))
    assert not home.is_locked()


def test_a_second_stack_in_one_home_is_refused(tmp_path: Path) -> None:
    home = Home(tmp_path)
    with home.locked(), pytest.raises(CliError, match="already runs in"), Home(tmp_path).locked():
        pass
    with home.locked():
        pass


def test_stale_processes_are_ended_and_strangers_are_not(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.create()
    sleep = [sys.executable, "-I", "-S", "-c", "import time; time.sleep(600)"]
    mine = subprocess.Popen(sleep, start_new_session=True)
    stranger = subprocess.Popen(sleep, start_new_session=True)
    try:
        from quelea_cli.stack.home import ProcessRecord, StackRecord

        record = StackRecord(1, "0", "")
        record.services["mine"] = ProcessRecord(mine.pid, start_time(mine.pid))
        record.services["stranger"] = ProcessRecord(stranger.pid, "1")  # the pid is in use again, by another
        home.write(record)
        assert home.end_stale() == ["mine"]
        assert mine.wait(120) == -signal.SIGKILL
        assert stranger.poll() is None
        assert not is_same_process(mine.pid, "1")
        assert home.read() is None
    finally:
        mine.kill()
        stranger.kill()
        mine.wait()
        stranger.wait()
