"""Writes the locks: every third-party package once, at one version, with the hashes of all its files (`make lock`).

    run.txt    the product, and what builds it
    torch.txt  what the embedder's extra "torch" adds
    cuda.txt   what torch itself needs on NVIDIA's GPUs: gigabytes, which the set-up leaves out
    dev.txt    what tests and tools add (dev.in)

Versions that are locked stay, unless an argument says otherwise: `--upgrade`, `--upgrade-package NAME[==VERSION]`; they
go to uv, which resolves for every platform at once. The tools' wheels (tools.txt) are locked by themselves.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
HEADER = "# Written by `make lock`.\n"
CUDA = re.compile(r"nvidia-|cuda-|triton")
TORCH_FOR_CPUS = "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b"
"""Of torch 2.13.0+cpu (Linux, x86-64, CPython 3.11), which is in an index of its own that is not asked here."""


def declared(extra: str = "") -> list[str]:
    """What our distributions need of others; with an extra, what that adds."""
    needs: set[str] = set()
    for line in (HERE / "ours.txt").read_text().splitlines():
        if line.startswith("-e "):
            table = tomllib.loads((ROOT / line[3:] / "pyproject.toml").read_text())["project"]
            extras = table.get("optional-dependencies", {})
            needs |= set(extras.get(extra, [])) if extra else set(table["dependencies"])
            if not extra:
                needs |= {need for name, group in extras.items() if name != "torch" for need in group}
    return sorted(need for need in needs if not need.startswith("quelea-"))


def named(file: str) -> list[str]:
    """The requirements of a file under requirements/."""
    return [line for line in (HERE / file).read_text().splitlines() if line and line[0] not in "#-"]


def resolve(needs: list[str], *arguments: str) -> dict[str, str]:
    """Package -> its lines of a lock, for the needs and all that they need."""
    with tempfile.TemporaryDirectory() as scratch:
        wanted, found = Path(scratch, "wanted.in"), Path(scratch, "found.txt")
        wanted.write_text("\n".join(needs))
        found.write_text("".join(path.read_text() for path in sorted(HERE.glob("*.txt")) if path.name != "ours.txt"))
        uv = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"]
        options = ["--no-header", "--no-annotate", "--output-file", str(found)]
        subprocess.run([*uv, *options, *arguments, str(wanted)], check=True)  # noqa: S603 - our own command
        blocks = re.split(r"\n(?=[A-Za-z0-9])", found.read_text().strip())
    return {re.split(r"[=\s]", block, maxsplit=1)[0]: block + "\n" for block in blocks}


def main() -> None:
    """Write all of them."""
    arguments = sys.argv[1:]
    run = [*declared(), *named("build.in")]
    torch = [*run, *declared("torch")]
    written: set[str] = set()
    for name, needs in (("run", run), ("torch", torch), ("dev", [*torch, *named("dev.in")])):
        packages = resolve(needs, *arguments)
        new = {one: lines for one, lines in packages.items() if one not in written}
        if cuda := {one: new.pop(one) for one in list(new) if CUDA.match(one)}:
            (HERE / "cuda.txt").write_text(HEADER + "".join(cuda.values()))
            written |= set(cuda)
        if "torch" in new and TORCH_FOR_CPUS not in new["torch"]:
            new["torch"] = f"{new['torch'].rstrip()} \\\n    --hash=sha256:{TORCH_FOR_CPUS}\n"
        (HERE / f"{name}.txt").write_text(HEADER + "".join(new.values()))
        written |= set(new)
    tools = resolve(named("tools.in"), "--no-deps", *arguments)
    (HERE / "tools.txt").write_text(HEADER + "".join(tools.values()))


if __name__ == "__main__":
    main()
