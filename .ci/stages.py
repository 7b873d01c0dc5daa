"""Runs stages of checks and tests side by side, and prints what each took: `.ci/stages.py commit|all`.

commit: what a contributor runs before a commit (`make test`). all: that and everything else (`make test-all`).
--install (`.ci/run`): missing Debian packages are installed first, and a Docker engine is started.

Stages start in their order, as soon as what they need is done, no stage of one of their `rooms` runs, and the `load` of
those that run leaves a part of a core free: of stages that mostly wait many run at a time. When one fails, its log is
shown at once and again named at the end, stages that need it are not run, all others are, and the exit code is 1. Logs
stay in .cache/ci. Needs nothing but Python: it runs before there is an environment.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CORES = os.cpu_count() or 1
LOGS = ROOT / ".cache" / "ci"
DEADLINE = 45 * 60
"""Seconds after which a stage is ended and has failed."""
SAY_EVERY = 60
"""Seconds between lines that say what is running."""
SLOW = 20
"""Seconds from which a test has to name its reason (`@pytest.mark.slow(reason=…)`)."""
SHOWN_OF_A_FAILURE = 1500
"""Lines of a failed stage's log that are shown; all of them are in its file."""
FAILURES_NAMED = 30
"""Failed tests of a stage that are named at the very end."""
LOADS = {
    "chart": 0.8,
    "chaos": 0.7,
    "contract": 0.6,
    "contract/gateway": 0.8,
    "contract/sandbox": 0.4,
    "debian": 0.5,
    "engine-cpu": 0.4,
    "engine-vllm": 0.7,
    "escape": 0.5,
    "images": 0.7,
    "integration/agent": 0.8,
    "integration/gateway": 0.2,
    "integration/generator": 0.3,
    "integration/images": 0.6,
    "integration/sandbox": 0.3,
    "integration/sandbox_runner": 0.3,
    "integration/search": 0.3,
    "open-webui": 0.3,
    "open_webui": 0.7,
    "unit": 0.8,
    "vllm": 0.8,
}
"""The share of a core that a stage keeps busy, with its containers and engines; one where none is named. About `cpu` by
`took` in the table at the end, which does not see containers and engines."""
FAILED = "failed"
UNIT = ("unit/gateway", "unit")
CONTRACT = ("contract/gateway", "contract")
"""Stages that coverage can be measured of: it makes them half as dear again."""


@dataclass
class Stage:
    """One command, and when it may run."""

    name: str
    command: list[str]
    needs: tuple[str, ...] = ()
    rooms: tuple[str, ...] = ()
    """Stages of one room are never run at the same time: they share an engine, or what one does breaks the other."""
    skip_on: int | None = None
    """An exit code that means that this machine cannot have it: what needs it is skipped, and that is said."""
    anyway: bool = False
    """Run it also where a need was skipped, without `environment`: its tests say what they miss."""
    environment: dict[str, str] = field(default_factory=dict)

    state: str = "waiting"
    code: int | None = None
    began: float = 0.0
    seconds: float = 0.0
    cpu: float = 0.0
    last: str = ""
    late: bool = False
    place: int = 0
    process: subprocess.Popen[bytes] | None = None

    @property
    def load(self) -> float:
        """The share of a core that it keeps busy."""
        return LOADS.get(self.name, 1.0)

    @property
    def log(self) -> Path:
        """Its output."""
        return LOGS / f"{self.name.replace('/', '-')}.log"


def pytest(*paths: str) -> list[str]:
    """The command of a stage of tests."""
    return [".venv/bin/pytest", "--durations=10", "--durations-min=5", *paths]


def make(*targets: str) -> list[str]:
    """The command of a stage that is a target of the Makefile."""
    return ["make", "--no-print-directory", *targets]


def commit(measured: tuple[str, ...] = ()) -> list[Stage]:
    """`make test`; with the coverage of the stages named."""

    def run(name: str, *paths: str) -> list[str]:
        if name not in measured:
            return pytest(*paths)
        return [".venv/bin/python", "-m", "coverage", "run", "-m", "pytest", *pytest(*paths)[1:]]

    contract = run("contract", "tests/contract", "--ignore=tests/contract/gateway")
    contract += ["-k", "not kubernetes"]  # see contract/sandbox
    stages = [
        Stage("setup", make("dev")),
        Stage("tools", make("tools"), ("setup",)),
        Stage("contract/gateway", run("contract/gateway", "tests/contract/gateway"), ("setup",)),
        Stage("contract", contract, ("setup",)),
        Stage("unit", run("unit", "tests/unit", "--ignore=tests/unit/gateway"), ("setup", "tools")),
        Stage("types", make("types"), ("setup",)),
        Stage("unit/gateway", run("unit/gateway", "tests/unit/gateway"), ("setup",)),
        Stage("product", pytest("tests/e2e/test_answers.py"), ("setup",)),
        Stage("lint", make("lint"), ("setup",)),
        Stage("architecture", make("arch"), ("setup",)),
    ]
    if measured:
        by = {"QUELEA_MEASURED": "unit and contract tests" if set(measured) > set(UNIT) else "unit tests"}
        stages.append(Stage("coverage", make("coverage-report"), measured, environment=by))
    return stages


IMAGES = {
    "integration/sandbox": "runner-image",
    "integration/sandbox_runner": "runner-image",
    "integration/agent": "runner-image",
    "escape": "runner-image",
    "integration/images": "images",
    "contract/sandbox": "runner-image",  # again, now with its pods as containers
    "chart": "runner-image",
    "integration/search": "runner-image",
}
"""Tests that want an image on the machine's Docker engine, and which."""
ALONE_ON_THE_ENGINE = (
    "escape",
    "integration/sandbox",
    "integration/agent",
    "integration/images",
    "integration/sandbox_runner",
)
"""Those that fill the engine with containers, or kill one: never two of them at the same time, so they are the longest
chain, and its longest link comes first."""


NETWORKS: dict[str, tuple[str, ...]] = {
    "integration/images": ("networks",),
    "e2e": ("networks",),
    "open_webui": ("networks",),
}
"""Networks of containers come and go in the first, and Chromium breaks off what it loads when one does."""


def tests(name: str, *needs: str) -> Stage:
    """The stage of tests/NAME."""
    if name not in IMAGES:
        return Stage(name, pytest(f"tests/{name}"), needs, rooms=NETWORKS.get(name, ()))
    return Stage(
        name,
        pytest(f"tests/{name}"),
        (*needs, IMAGES[name]),
        rooms=(*(["engine"] if name in ALONE_ON_THE_ENGINE else []), *NETWORKS.get(name, ())),
        anyway=True,
        environment={"QUELEA_ENGINE": "yes"},  # a test that finds no engine fails then, and is not skipped
    )


def everything(*, install: bool, coverage: bool = False) -> list[Stage]:
    """`make test-all` and `.ci/run`: what is at the head of a long chain comes first, then what takes long.

    Coverage, of the unit tests alone, only where it is asked for: no test depends on it, and it took a twentieth of the
    processor time of the whole run.
    """
    before_a_commit = {one.name: one for one in commit(UNIT if coverage else ())}
    folders = sorted(path.name for path in (ROOT / "tests/integration").iterdir() if any(path.rglob("test_*.py")))
    debian = ("debian",) if install else ()
    if install:
        engine = Stage("engine", ["deploy/images/engine.sh"], debian, skip_on=3)
    else:
        engine = Stage("engine", ["docker", "version"], skip_on=1)
    return [
        *([Stage("debian", [sys.executable, __file__, "debian"])] if install else []),
        before_a_commit.pop("setup"),
        Stage("engine-vllm", make("engine-vllm")),  # an environment of its own
        engine,
        before_a_commit.pop("tools"),
        Stage("runner-image", make("runner-image"), ("engine", "setup")),
        Stage("images", make("images"), ("runner-image", "tools")),  # on the same base
        *[tests(name, "setup") for name in ALONE_ON_THE_ENGINE],
        tests("vllm", "setup", "engine-vllm"),
        Stage("engine-cpu", make("engine-cpu"), ("setup",)),
        tests("llama", "setup", "engine-cpu"),
        tests("e2e", "setup", *debian),
        Stage("open-webui", make("open-webui"), ("setup",)),  # an environment of its own, made by ours
        tests("open_webui", "setup", "open-webui", *debian),
        *[one for one in before_a_commit.values() if one.name != "product"],  # which is a part of e2e
        *[
            tests(f"integration/{name}", "setup", *debian)
            for name in folders
            if f"integration/{name}" not in ALONE_ON_THE_ENGINE
        ],
        tests("contract/sandbox", "setup"),
        tests("chart", "setup"),
        replace(tests("chaos", "setup"), environment={"QUELEA_CHAOS_SECONDS": "60"}),
        Stage("breaking", make("proto-breaking"), ("setup",)),
    ]


def debian() -> int:
    """Install what tests of real components want from Debian, as root; elsewhere say what is missing."""
    wanted = {name: name for name in ("chromium", "prometheus", "docker-registry", "docker-compose")}
    missing = [package for command, package in wanted.items() if not shutil.which(command)]
    if not missing:
        return 0
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        print(f"SKIPPED: without root {' '.join(missing)} cannot be installed; the tests that need it say so")
        return 0
    # RUNLEVEL=1: packages install their services and do not start them.
    quiet = {**os.environ, "RUNLEVEL": "1", "DEBIAN_FRONTEND": "noninteractive"}
    subprocess.run(["apt-get", "update", "-qq"], check=True)
    command = ["apt-get", "install", "-y", "-qq", "--no-install-recommends", *missing, "fonts-noto-cjk"]
    return subprocess.run(command, check=False, env=quiet, stdout=subprocess.DEVNULL).returncode


class Run:
    """Starts stages, waits for them, tells what they said."""

    def __init__(self, stages: list[Stage], places: int) -> None:
        self.stages = {one.name: one for one in stages}
        unknown = {need for one in stages for need in one.needs} - set(self.stages)
        if unknown:
            raise ValueError(f"no stage {', '.join(sorted(unknown))}")
        self.places = places
        self.began = time.monotonic()
        self._cpu_before = processor_time()
        self._said = self.began

    def of(self, *states: str) -> list[Stage]:
        """The stages in these states, in order."""
        return [one for one in self.stages.values() if one.state in states]

    def go(self) -> int:
        """Run all; 0 when none failed."""
        while self.of("waiting", "running"):
            self._give_up()
            for one in self._startable():
                self._start(one)
            for one in self.of("running"):
                self._look(one)
            self._say_what_runs()
            time.sleep(0.2)
        return 1 if self.of(FAILED, "not run") else 0

    def end(self) -> None:
        """End what still runs: first so that tests put away what they started."""
        for number, seconds in ((signal.SIGINT, 40), (signal.SIGTERM, 20), (signal.SIGKILL, 5)):
            for one in self.of("running"):
                _signal(one, number)
            limit = time.monotonic() + seconds
            while self.of("running") and time.monotonic() < limit:
                for one in self.of("running"):
                    self._look(one)
                time.sleep(0.2)

    def _give_up(self) -> None:
        for one in self.of("waiting"):
            of_needs = {self.stages[need].state for need in one.needs}
            if of_needs & {FAILED, "not run"}:
                one.state = "not run"
                self._say(f"{one.name}: not run, for what it needs has failed")
            elif "skipped" in of_needs and not one.anyway:
                one.state = "skipped"
                self._say(f"SKIPPED: {one.name}, this machine has no {', '.join(one.needs)}")

    def _startable(self) -> Iterable[Stage]:
        for one in self.of("waiting"):
            running = self.of("running")
            if (
                len(running) < self.places
                and sum(other.load for other in running) < CORES
                and all(self.stages[need].state in ("passed", "skipped") for need in one.needs)
                and not any(set(one.rooms) & set(other.rooms) for other in running)
            ):
                yield one

    def _start(self, one: Stage) -> None:
        taken = {other.place for other in self.of("running")}
        one.place = min(set(range(len(taken) + 1)) - taken)
        one.log.unlink(missing_ok=True)
        if any(self.stages[need].state == "skipped" for need in one.needs):
            one.environment = {}
        # Each place has ports of its own (quelea_kit.testing.free_port), as pytest-xdist's workers have.
        places = {"PYTEST_XDIST_WORKER": f"gw{one.place}", "PYTEST_XDIST_WORKER_COUNT": str(self.places)}
        told = {**os.environ, **places, "QUELEA_TEST_TIMES": str(LOGS / "times.jsonl"), **one.environment}
        told.pop("PYTHONDONTWRITEBYTECODE", None)  # hundreds of processes would compile the same modules again
        with one.log.open("wb") as log:
            one.process = subprocess.Popen(
                one.command,
                cwd=ROOT,
                env=told,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        one.state, one.began = "running", time.monotonic()

    def _look(self, one: Stage) -> None:
        assert one.process is not None
        one.seconds = time.monotonic() - one.began
        pid, status, used = os.wait4(one.process.pid, os.WNOHANG)
        if pid == 0:
            if one.seconds > DEADLINE + 60:
                _signal(one, signal.SIGKILL)
            elif one.seconds > DEADLINE and not one.late:
                one.late = True
                _signal(one, signal.SIGINT)  # pytest says where it was, and puts away what it started
            return
        one.code = one.process.returncode = os.waitstatus_to_exitcode(status)
        one.cpu = used.ru_utime + used.ru_stime
        lines = one.log.read_text(errors="replace").splitlines()
        one.last = next((line.strip("= ") for line in reversed(lines) if line.strip()), "")
        if one.code and one.code == one.skip_on:
            one.state = "skipped"
        else:
            one.state = FAILED if one.code else "passed"
        self._say(f"{one.name}: {one.state} in {one.seconds:.0f} s, exit code {one.code}")
        shown = _closing(lines) if one.state == "passed" else lines[-SHOWN_OF_A_FAILURE:]
        print(*(f"  {line}" for line in shown), sep="\n", flush=True)

    def _say(self, what: str) -> None:
        passed = int(time.monotonic() - self.began)
        print(f"[{passed // 60:2d}:{passed % 60:02d}] {what}", flush=True)
        self._said = time.monotonic()

    def _say_what_runs(self) -> None:
        if time.monotonic() - self._said > SAY_EVERY:
            self._say("running: " + ", ".join(f"{one.name} ({one.seconds:.0f} s)" for one in self.of("running")))

    def table(self) -> str:
        """What each stage took, in the order in which they ended."""
        width = max(len(name) for name in self.stages)
        lines = [f"{'stage':{width}}   start    took     cpu  exit  result"]
        for one in sorted(self.stages.values(), key=lambda one: one.began + one.seconds or 1e12):
            start = _clock(one.began - self.began) if one.began else "-"
            code = "-" if one.code is None else str(one.code)
            result = "" if one.state == "passed" else f"{one.state.upper()} {one.last[:80]}"
            times = f"{_clock(one.seconds):>6}  {_clock(one.cpu):>6}"
            lines.append(f"{one.name:{width}}  {start:>6}  {times}  {code:>4}  {result}")
        took, cpu = time.monotonic() - self.began, processor_time() - self._cpu_before
        busy = f"{cpu / took / CORES:.0%} of all cores, with containers and whatever else ran"
        lines.append(f"{'all':{width}}  {'':6}  {_clock(took):>6}  {_clock(cpu):>6}        {busy}")
        return "\n".join(line.rstrip() for line in lines)


def _signal(one: Stage, number: int) -> None:
    assert one.process is not None
    with contextlib.suppress(ProcessLookupError):
        os.killpg(one.process.pid, number)


def _clock(seconds: float) -> str:
    return f"{int(seconds) // 60}:{int(seconds) % 60:02d}"


def _closing(lines: list[str]) -> list[str]:
    """What a stage that passed said last: warnings, skipped tests, the count; not its dots."""
    useful = [line for line in lines if line.strip() and not line.rstrip().endswith("%]") and set(line) - set(".s")]
    return useful[-25:]


def failures(stage: Stage) -> list[str]:
    """The tests that failed, each with the first line of why, or what the stage said last."""
    lines = stage.log.read_text(errors="replace").splitlines()
    named = [line[:300] for line in lines if line.startswith(("FAILED ", "ERROR "))]
    return named[:FAILURES_NAMED] or lines[-5:]


def slow_tests() -> str:
    """Tests that took longer than SLOW seconds, with their reasons, longest first."""
    times = LOGS / "times.jsonl"
    if not times.exists():
        return ""
    found = [json.loads(line) for line in times.read_text().splitlines()]
    found = sorted((one for one in found if one["seconds"] > SLOW), key=lambda one: -one["seconds"])
    if not found:
        return f"no test took more than {SLOW} s"
    lines = [f"tests of more than {SLOW} s (without what their fixtures took)"]
    lines += [f"{one['seconds']:6.0f} s  {one['test']}: {one['reason'] or 'NO REASON GIVEN'}" for one in found]
    return "\n".join(lines)


def places_here() -> int:
    """Two for each core, and each with 6 GB of memory: every one of them may start the whole product."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return max(1, min(2 * CORES, int(memory // 6e9)))


def processor_time() -> float:
    """Seconds that all processes of the machine have used; elsewhere than on Linux those of ended stages."""
    counters = Path("/proc/stat")
    if not counters.exists():
        return sum(os.times()[2:4])
    user, nice, system, _idle, _io, irq, softirq, *_ = map(int, counters.read_text().split("\n", 1)[0].split()[1:])
    return (user + nice + system + irq + softirq) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    """Run, and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["commit", "all", "debian"])
    parser.add_argument("--install", action="store_true", help="install what is missing from Debian, start an engine")
    parser.add_argument(
        "--coverage", action="store_true", help="of unit and contract tests; with `all` of unit tests alone"
    )
    parser.add_argument("--places", type=int, default=places_here(), help="stages at a time, at most")
    parser.add_argument("--only", default="", help="these stages, with commas between, without what they need")
    options = parser.parse_args()
    if options.places < 1:
        parser.error("--places must be 1 or more: with none nothing would ever start")
    if options.what == "debian":
        return debian()
    shutil.rmtree(LOGS / "coverage", ignore_errors=True)
    (LOGS / "coverage").mkdir(parents=True)
    (LOGS / "times.jsonl").unlink(missing_ok=True)
    if options.what == "commit":
        stages = commit((*UNIT, *CONTRACT) if options.coverage else ())
    else:
        stages = everything(install=options.install, coverage=options.coverage)
    if options.only:
        stages = [one for one in stages if one.name in options.only.split(",")]
        for one in stages:
            one.needs = tuple(need for need in one.needs if need in {other.name for other in stages})
    run = Run(stages, options.places)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    code = 1
    try:
        code = run.go()
    finally:
        run.end()
        # The table after the tests: who sees only the last lines needs it most.
        print("", slow_tests(), "", run.table(), sep="\n", flush=True)
        for one in run.of(FAILED):
            print(f"FAILED: {one.name} ({one.log.relative_to(ROOT)})", flush=True)
            print(*(f"  {line}" for line in failures(one)), sep="\n", flush=True)
    return code


if __name__ == "__main__":
    sys.exit(main())
