"""The locks of requirements/: each package once, by its hashes, and all that the distributions declare."""

from __future__ import annotations

import importlib.metadata
import re
import sys
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

FOLDER = Path(__file__).parents[3] / "requirements"
LOCKS = {path.stem: path.read_text() for path in FOLDER.glob("*.txt") if path.stem not in ("ours", "tools")}


@pytest.fixture(scope="module")
def lock() -> Any:
    """requirements/lock.py, which is no package."""
    sys.path.insert(0, str(FOLDER))
    try:
        import lock

        return lock
    finally:
        sys.path.remove(str(FOLDER))


def packages(name: str) -> dict[str, str]:
    return {canonicalize_name(one): version for one, version in re.findall(r"^(\S+)==(\S+)", LOCKS[name], re.M)}


def closure(needs: list[str]) -> set[str]:
    """The names of all that these need on this machine, as the installed packages say themselves."""
    found: set[str] = set()
    waiting = [Requirement(need) for need in needs]
    while waiting:
        need = waiting.pop()
        if not need.name.startswith("quelea-"):
            found.add(canonicalize_name(need.name))
        for line in importlib.metadata.requires(need.name) or []:
            one = Requirement(line)
            wanted = one.marker is None or any(one.marker.evaluate({"extra": e}) for e in ("", *need.extras))
            if wanted and canonicalize_name(one.name) not in found:
                waiting.append(one)
    return found


def test_every_package_is_in_one_lock_with_the_hashes_of_its_files() -> None:
    assert set(LOCKS) == {"uv", "run", "torch", "cpu", "cuda", "train", "llama", "ocr", "dev"}
    assert set(packages("cpu")) == {"torch"} <= set(packages("cuda"))
    names = [name for lock in LOCKS if lock != "cpu" for name in packages(lock)]
    assert sorted(names) == sorted(set(names))
    for text in (*LOCKS.values(), (FOLDER / "tools.txt").read_text()):
        for block in re.split(r"\n(?=[A-Za-z0-9])", text.split("\n", 1)[1].strip()):
            assert re.fullmatch(r"\S+==\S+( ; [^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+", block), block


def test_the_product_installs_without_torch_and_lacks_nothing(lock: Any) -> None:
    run = packages("run")
    assert closure([*lock.read_declared(), *lock.read_names("build.in")]) - set(run) == set()
    assert not {"torch", "transformers", "sentence-transformers"} & set(run)


def test_the_extra_and_the_tools_lack_nothing_beside_it(lock: Any) -> None:
    needs = [*lock.read_declared("torch"), *lock.read_declared("train"), *lock.read_names("dev.in")]
    everything = {name for one in LOCKS for name in packages(one)}
    assert closure(needs) - everything == set()


def test_set_up_takes_torch_for_processors(lock: Any) -> None:
    """The ordinary index has torch for GPUs under the same version, which does not start without CUDA's libraries."""
    version, sha256 = lock.TORCH_FOR_CPUS
    assert f"torch=={version}+cpu ; sys_platform == 'linux'" in LOCKS["cpu"]
    assert LOCKS["cpu"].count(sha256) == 1
    assert sha256 not in LOCKS["cuda"]
    assert packages("cuda")["torch"] == version


def test_what_is_installed_here_is_what_is_locked() -> None:
    locked = {name: version for one in LOCKS for name, version in packages(one).items()}
    installed = {canonicalize_name(d.name): d.version.split("+")[0] for d in importlib.metadata.distributions()}
    assert {name: installed[name] for name in locked.keys() & installed.keys() if locked[name] != installed[name]} == {}
