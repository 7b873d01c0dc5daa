"""Builds quelea-runner, the image in which untrusted code runs, with no container registry.

`python deploy/images/runner.py` does nothing when an image of the same content is there. What is in the image is told
by one hash over everything that goes into it (label `quelea.content`): the interpreter and its libraries, the pinned
releases, the font, our own files.

Options: --base IMAGE takes a base from a registry instead of making one (any with CPython of this version as python3);
--force builds in any case; --check only says whether a build is due (exit 3 if it is).
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
import time
from pathlib import Path

import rootfs
from docker_cli import LABEL, REPOSITORY, Unbuildable, digest, drop_old_stages, label_of, make_base, run, size_of
from wheels import project

RUNNER = REPOSITORY / "services" / "agent-sandbox" / "runner"
CACHE = REPOSITORY / ".cache" / "runner"
IMAGE = "quelea-runner"
# WenQuanYi Micro Hei (Apache-2.0 or GPL-3 with font exception): all of GBK, 5 MB, and has a minus sign.
FONT_PACKAGE = "fonts-wqy-microhei=0.2.0-beta-3.1"
FONT_IN_PACKAGE = "usr/share/fonts/truetype/wqy/wqy-microhei.ttc"
FONT_SHA256 = "2420e8078af796b19a3f6ef13de527a1a91c1e7171eea115926c614ced1009b3"
OURS = ("Dockerfile", "install.py", "guest.py", "matplotlibrc", "requirements.txt")


def _sources() -> list[Path]:
    package = sorted(path for path in (RUNNER / "quelea_market").rglob("*.py"))
    missing = [name for name in OURS if not (RUNNER / name).is_file()]
    if missing:
        raise Unbuildable(f"{RUNNER} lacks {', '.join(missing)}")
    return [*(RUNNER / name for name in OURS), *package]


def content_hash(base: str) -> str:
    """Identity of the image that would be built on this base."""
    total = hashlib.sha256(f"{base}\n{FONT_SHA256}\n".encode())
    for path in _sources():
        total.update(f"{path.relative_to(RUNNER)} {digest(path)}\n".encode())
    return total.hexdigest()


def wheels() -> Path:
    """A folder with one wheel a pinned release, collected once per requirements.txt; hashes are checked by pip."""
    folder = (
        CACHE / f"wheels-{digest(RUNNER / 'requirements.txt')[:16]}-cp{sys.version_info.major}{sys.version_info.minor}"
    )
    if not folder.is_dir():
        unfinished = folder.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        requirements = str(RUNNER / "requirements.txt")
        run(
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "-q",
            "--no-deps",
            "--require-hashes",
            "-r",
            requirements,
            "-w",
            str(unfinished),
        )
        unfinished.rename(folder)
    return folder


def font() -> Path:
    """The font's file, from this machine or out of Debian's package; its hash is checked."""
    kept = CACHE / "wqy-microhei.ttc"
    installed = Path("/", FONT_IN_PACKAGE)
    for candidate in (kept, installed):
        if candidate.is_file() and digest(candidate) == FONT_SHA256:
            return candidate
    with tempfile.TemporaryDirectory() as scratch:
        try:
            run("apt-get", "download", "-qq", FONT_PACKAGE, cwd=Path(scratch))
        except Unbuildable:
            run("apt-get", "update", "-qq")
            run("apt-get", "download", "-qq", FONT_PACKAGE, cwd=Path(scratch))
        package = next(Path(scratch).glob("*.deb"))
        run("dpkg-deb", "-x", str(package), str(Path(scratch, "out")))
        unpacked = Path(scratch, "out", FONT_IN_PACKAGE)
        if digest(unpacked) != FONT_SHA256:
            raise Unbuildable(f"{FONT_PACKAGE} holds another font than the pinned one; put wqy-microhei.ttc at {kept}")
        CACHE.mkdir(parents=True, exist_ok=True)
        shutil.copy(unpacked, kept)
    return kept


def build(base: str, identity: str) -> None:
    """One `docker build`, without network; tags the result with its hash and as latest."""
    with tempfile.TemporaryDirectory(dir=CACHE) as scratch:
        context = Path(scratch)
        for path in _sources():
            target = context / path.relative_to(RUNNER)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        shutil.copy(font(), context / "font.ttc")
        (context / "wheels").mkdir()
        for wheel in wheels().iterdir():
            (context / "wheels" / wheel.name).hardlink_to(wheel)
        command = ["docker", "build", "--quiet", "--network", "none", "--build-arg", f"BASE={base}"]
        command += ["--label", f"{LABEL}={identity}", "--label", "quelea=runner"]
        run(*command, "-t", f"{IMAGE}:{identity[:12]}", "-t", f"{IMAGE}:latest", str(context))
    drop_old_stages()


def tag_as_released() -> None:
    """The tag that the chart asks for: the version of the sandbox, as all images of ours have theirs."""
    run("docker", "tag", f"{IMAGE}:latest", f"{IMAGE}:{project('services/agent-sandbox')['version']}")


def main() -> int:
    """Build if due; one line on what there is."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--base", default="", help="an image to build on instead of a base made here")
    parser.add_argument("--force", action="store_true", help="build also when the same content is there")
    parser.add_argument("--check", action="store_true", help="only say whether a build is due")
    options = parser.parse_args()
    began = time.monotonic()
    try:
        run("docker", "version", "--format", "{{.Server.Version}}")
        files = {} if options.base else rootfs.contents()
        base_identity = options.base or rootfs.fingerprint(files)
        identity = content_hash(base_identity)
        due = options.force or label_of(f"{IMAGE}:latest") != identity
        if options.check:
            return 3 if due else 0
        if due:
            CACHE.mkdir(parents=True, exist_ok=True)
            build(options.base or make_base(files, base_identity), identity)
        tag_as_released()
    except (Unbuildable, rootfs.Machine) as error:
        print(f"runner image: {error}", file=sys.stderr)  # noqa: T201 - a command line prints
        return 1
    size = size_of(f"{IMAGE}:latest")
    done = f"built in {time.monotonic() - began:.0f} s" if due else "already there"
    print(f"{IMAGE}:{identity[:12]} {size:.0f} MB, {done}")  # noqa: T201 - a command line prints
    return 0


if __name__ == "__main__":
    sys.exit(main())
