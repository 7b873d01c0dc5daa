"""Builds the wheels of all our distributions, and of `quelea`, which installs them together (`make dist`).

    python deploy/wheels/build.py [--out dist]

Each wheel asks for exactly this version of the others. `quelea` asks also for every package of others at the version in
requirements/, for it is an application: what was tested is what is installed.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Iterator
from importlib import metadata
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

REPOSITORY = Path(__file__).resolve().parents[2]
PRODUCT = Path("deploy/wheels/quelea")
SAMPLES = "quelea_samples"
_OURS = re.compile(r'(?<!name = )"(quelea-[a-z]+(?:\[[a-z,]+\])?)"')
_LOCKED = re.compile(r"^([A-Za-z0-9._-]+)==(\S+?)(?: *; *([^\\\n]+?))? *\\?$", re.MULTILINE)
_GENERATED = shutil.ignore_patterns("__pycache__", "*_pb2*.py", "*_pb2*.pyi", "dist", "*.egg-info")
_SECONDS = 300


def folders() -> list[Path]:
    """Of our distributions, as requirements/ours.txt has them."""
    lines = (REPOSITORY / "requirements/ours.txt").read_text().splitlines()
    return [Path(line.removeprefix("-e ")) for line in lines if line.startswith("-e ")]


def locked(name: str = "run") -> dict[str, str]:
    """Package -> "name==version ; marker", by a lock."""
    text = (REPOSITORY / "requirements" / f"{name}.txt").read_text()
    return {
        canonicalize_name(package): f"{package}=={version}" + (f" ; {marker}" if marker else "")
        for package, version, marker in _LOCKED.findall(text)
    }


def closure(needs: Iterable[str]) -> set[str]:
    """Names of the packages that these requirements install here, by what is installed."""
    found: set[tuple[str, str]] = set()
    waiting = [Requirement(need) for need in needs]
    while waiting:
        need = waiting.pop()
        name = canonicalize_name(need.name)
        for extra in ("", *need.extras):
            if (name, extra) in found:
                continue
            found.add((name, extra))
            waiting += [one for one in _requires(name) if not one.marker or one.marker.evaluate({"extra": extra})]
    return {name for name, _ in found}


def _requires(name: str) -> Iterator[Requirement]:
    try:
        yield from map(Requirement, metadata.requires(name) or ())
    except metadata.PackageNotFoundError:  # of another platform: the lock has its marker
        return


def pinned(pyproject: str, version: str) -> str:
    """The file with our distributions at this version."""
    return _OURS.sub(rf'"\1=={version}"', pyproject)


def product(pyproject: str, version: str) -> str:
    """The file of `quelea` with its dependencies."""
    ours = [tomllib.loads((REPOSITORY / one / "pyproject.toml").read_text())["project"] for one in folders()]
    others = {need for one in ours for need in one["dependencies"] if not need.startswith("quelea-")}
    others |= {need for one in ours if one["name"] == "quelea-kit" for need in _extras(one, "storage", "schemas")}
    lock = locked()
    wanted = sorted(pin for name, pin in lock.items() if name in closure(others))
    lines = [f"{one['name']}=={version}" for one in ours] + wanted
    listed = "".join(f"    {line!r},\n" for line in lines)
    return pinned(pyproject.replace("dependencies = []", f"dependencies = [\n{listed}]"), version)


def _extras(table: dict[str, dict[str, list[str]]], *names: str) -> list[str]:
    return [need for name in names for need in table["optional-dependencies"][name]]


def build(folder: Path, out: Path) -> None:
    """One wheel, from a copy: a build writes beside its sources."""
    source = REPOSITORY / folder
    text = (source / "pyproject.toml").read_text()
    version = tomllib.loads(text)["project"]["version"]
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "source")
        if folder == PRODUCT:
            shutil.copytree(source, copy)
            shutil.copytree(REPOSITORY / "samples", copy / SAMPLES)
            text = product(text, version)
        else:
            packages = tomllib.loads(text)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]
            for package in packages:
                shutil.copytree(source / package, copy / package, ignore=_GENERATED)
            for file in filter(Path.is_file, source.iterdir()):  # a build hook, and what it reads
                shutil.copy(file, copy)
            text = pinned(text, version)
        (copy / "pyproject.toml").write_text(text)
        shutil.copy(REPOSITORY / "LICENSE", copy)
        environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"}
        command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(out)]
        done = subprocess.run(  # noqa: S603 - our own command
            command, cwd=copy, env=environment, check=False, timeout=_SECONDS, capture_output=True, text=True
        )
        if done.returncode:
            sys.exit(f"{folder} cannot be built: {done.stdout}{done.stderr}")


def main() -> None:
    """Build all; the folder holds nothing else of ours afterwards."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, default=REPOSITORY / "dist", help="folder for the wheels")
    out: Path = parser.parse_args().out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    for old in out.glob("quelea*.whl"):
        old.unlink()
    for folder in (*folders(), PRODUCT):
        build(folder, out)
    print(f"{len(list(out.glob('quelea*.whl')))} wheels in {out}")  # noqa: T201 - a command prints


if __name__ == "__main__":
    main()
