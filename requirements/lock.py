"""Writes the locks: every third-party package once, at one version, with the hashes of all its files (`make lock`).

    uv.txt     uv, which installs the others (install.py)
    run.txt    the product, and what builds it
    torch.txt  what the embedder's extra "torch" adds, but for torch
    cpu.txt    torch for processors
    cuda.txt   torch for NVIDIA's GPUs and what it needs there: gigabytes, which the set-up leaves out
    train.txt  what the training's extra "train" adds beside that
    ocr.txt    what search's extra "ocr" adds
    llama.txt  what the generator's extra "llama" adds
    dev.txt    what tests and tools add (dev.in)

Versions that are locked stay, unless an argument says otherwise: `--upgrade`, `--upgrade-package NAME[==VERSION]`; they
go to uv, which resolves for every platform at once. The tools' wheels (tools.txt) are locked by themselves, and so is
the environment of tests/open_webui, whose versions are those of its requirements.in.
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
OPEN_WEBUI = ROOT / "tests/open_webui"
HEADER = "# Written by `make lock`.\n"
CUDA = re.compile(r"torch$|nvidia-|cuda-|triton")
EXTRAS = ("torch", "train", "llama", "ocr", "pandas")
"""Extras that nobody gets unasked."""
TORCH_FOR_CPUS = ("2.13.0", "6746dbcbeb526eb61330b76b41ff1b4eb848951103a892eeb080dfa2b264667b")
"""Version and hash of torch+cpu for Linux, x86-64 and CPython 3.11: it is in an index of its own, which is not asked
here. The ordinary index has torch for GPUs under this version, and pip would take that."""


def read_declared(extra: str = "") -> list[str]:
    """What our distributions need of others; with an extra, what that adds."""
    needs: set[str] = set()
    for line in (HERE / "ours.txt").read_text().splitlines():
        if line.startswith("-e "):
            table = tomllib.loads((ROOT / line[3:] / "pyproject.toml").read_text())["project"]
            extras = table.get("optional-dependencies", {})
            needs |= set(extras.get(extra, [])) if extra else set(table["dependencies"])
            if not extra:
                needs |= {need for name, group in extras.items() if name not in EXTRAS for need in group}
    return sorted(need for need in needs if not need.startswith("quelea-"))


def read_names(file: str | Path) -> list[str]:
    """The requirements of a file under requirements/, or of one elsewhere."""
    return [line for line in (HERE / file).read_text().splitlines() if line and line[0] not in "#-"]


def resolve(needs: list[str], *arguments: str) -> dict[str, str]:
    """Package -> its lines of a lock, for the needs and all that they need."""
    with tempfile.TemporaryDirectory() as scratch:
        wanted, found = Path(scratch, "wanted.in"), Path(scratch, "found.txt")
        wanted.write_text("\n".join(needs))
        found.write_text(
            "".join(path.read_text() for path in sorted(HERE.glob("*.txt")) if path.stem not in ("ours", "cpu"))
        )
        uv = ["uv", "pip", "compile", "--quiet", "--universal", "--python-version", "3.11", "--generate-hashes"]
        options = ["--no-header", "--no-annotate", "--output-file", str(found)]
        subprocess.run([*uv, *options, *arguments, str(wanted)], check=True)  # noqa: S603 - our own command
        blocks = re.split(r"\n(?=[A-Za-z0-9])", found.read_text().strip())
    return {re.split(r"[=\s]", block, maxsplit=1)[0]: block + "\n" for block in blocks}


def pin_for_processors(torch: str) -> str:
    """The lines of cpu.txt, from those of torch in the ordinary index."""
    version, sha256 = TORCH_FOR_CPUS
    name, _, hashes = torch.partition(" ")
    if name != f"torch=={version}":
        sys.exit(f"{name}: put the hash of its wheel for processors into TORCH_FOR_CPUS of requirements/lock.py")
    own = "sys_platform == 'linux' and platform_machine == 'x86_64'"
    other = "sys_platform != 'linux' or platform_machine != 'x86_64'"
    return f"{name}+cpu ; {own} \\\n    --hash=sha256:{sha256}\n{name} ; {other} {hashes}"


def main() -> None:
    """Write all of them."""
    arguments = sys.argv[1:]
    run = [*read_declared(), *read_names("build.in")]
    torch = [*run, *read_declared("torch")]
    train = [*torch, *read_declared("train")]
    llama = [*run, *read_declared("llama")]
    ocr = [*run, *read_declared("ocr")]
    written: set[str] = set()
    for name, needs in (
        ("uv", ["uv"]),
        ("run", run),
        ("torch", torch),
        ("train", train),
        ("llama", llama),
        ("ocr", ocr),
        ("dev", [*train, *ocr, *read_names("dev.in")]),
    ):
        packages = resolve(needs, *arguments)
        new = {one: lines for one, lines in packages.items() if one not in written}
        if cuda := {one: new.pop(one) for one in list(new) if CUDA.match(one)}:
            (HERE / "cuda.txt").write_text(HEADER + "".join(cuda.values()))
            (HERE / "cpu.txt").write_text(HEADER + pin_for_processors(cuda["torch"]))
            written |= set(cuda)
        (HERE / f"{name}.txt").write_text(HEADER + "".join(new.values()))
        written |= set(new)
    tools = resolve(read_names("tools.in"), "--no-deps", *arguments)
    (HERE / "tools.txt").write_text(HEADER + "".join(tools.values()))
    web = resolve(read_names(OPEN_WEBUI / "requirements.in"), "--no-deps")
    (OPEN_WEBUI / "requirements.txt").write_text(HEADER + "".join(web.values()))


if __name__ == "__main__":
    main()
