"""What files an image has: one digest over names, kinds, modes, owners and bytes; without times, and without what the
engine puts into every container.

`python deploy/images/tree.py IMAGE` prints the digest; two builds of the same inputs must have the same.
`python deploy/images/tree.py IMAGE OTHER` names the paths in which two images differ, and exits 1 where there are any.
The engine is that of DOCKER_HOST.
"""

from __future__ import annotations

import argparse
import hashlib
import subprocess
import sys
import tarfile

from docker_cli import run

_SHOWN = 50
_ENGINES = {
    ".dockerenv",
    "etc/hostname",
    "etc/hosts",
    "etc/mtab",
    "etc/resolv.conf",
    "dev/console",
    "dev/pts",
    "dev/shm",
}


def tree(image: str) -> dict[str, str]:
    """Path -> digest of what is there."""
    container = run("docker", "create", image, "true")
    command = ["docker", "export", container]
    found: dict[str, str] = {}
    try:
        with (
            subprocess.Popen(command, stdout=subprocess.PIPE) as export,  # noqa: S603 - fixed command
            tarfile.open(fileobj=export.stdout, mode="r|") as archive,
        ):
            for one in archive:
                if one.name.rstrip("/") in _ENGINES:
                    continue
                facts = f"{one.type!r} {one.mode:o} {one.uid} {one.gid} {one.linkname}\n"
                content = hashlib.sha256(facts.encode())
                file = archive.extractfile(one) if one.isreg() else None
                while file is not None and (piece := file.read(1 << 20)):
                    content.update(piece)
                found[one.name.rstrip("/")] = content.hexdigest()
    finally:
        run("docker", "rm", "--force", container)
    return found


def total(found: dict[str, str]) -> str:
    """One digest of all paths."""
    return hashlib.sha256("".join(f"{path}\0{found[path]}\n" for path in sorted(found)).encode()).hexdigest()


def main() -> int:
    """Print, or compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("image")
    parser.add_argument("other", nargs="?")
    options = parser.parse_args()
    images = [options.image, *([options.other] if options.other else [])]
    trees = [tree(image) for image in images]
    for image, found in zip(images, trees, strict=True):
        print(f"{total(found)}  {len(found)} paths  {image}")  # noqa: T201 - a command line prints
    first, last = trees[0], trees[-1]
    differing = sorted(path for path in first.keys() | last.keys() if first.get(path) != last.get(path))
    for path in differing[:_SHOWN]:
        print(f"differs: {path}")  # noqa: T201 - as above
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main())
