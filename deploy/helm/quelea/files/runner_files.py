"""Everything in this image as one tar file, for `docker import`: runner_files.py ROOT OUT.

What the node mounts into a container is left out, and so is what this user may not read: nobody else may in a sandbox.
"""

# ruff: noqa: T201  # a probe or a test says on its output why

import os
import sys
import tarfile
from pathlib import Path

LEFT_OUT = {"proc", "sys", "dev", "run", "tmp", "runner", "etc/quelea", "etc/hosts", "etc/hostname", "etc/resolv.conf"}
EMPTY = ("proc", "sys", "dev", "run", "tmp", "work")


def main(root: str, out: str) -> int:
    """0 when it is written."""
    number = 0
    with tarfile.open(out, "w", format=tarfile.PAX_FORMAT) as archive:
        for folder in EMPTY:
            member = tarfile.TarInfo(folder)
            member.type, member.mode = tarfile.DIRTYPE, 0o1777 if folder in ("tmp", "work") else 0o755
            archive.addfile(member)
        for folder, folders, files in os.walk(root):
            below = os.path.relpath(folder, root)
            names = {name: name if below == "." else f"{below}/{name}" for name in (*folders, *files)}
            folders[:] = [
                name for name in folders if names[name] not in LEFT_OUT and not Path(folder, name).is_symlink()
            ]
            for name, path in names.items():
                if (
                    path in LEFT_OUT
                    or path in EMPTY
                    or not os.access(Path(folder, name), os.R_OK, follow_symlinks=False)
                ):
                    continue
                archive.add(Path(folder, name), path, recursive=False)
                number += 1
    print(f"{number} files and folders, {Path(out).stat().st_size / 1e6:.0f} MB")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2]))
