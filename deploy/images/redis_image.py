"""quelea-redis: Debian's Redis on the base of the other images, for clusters that reach no registry.

A registry's own image (docker.io/library/redis, the chart's default) does as well; with `--base` this one is not built.
The packages come from the Debian mirror that this machine's apt-get knows, so its security updates do too: `--force`
fetches them anew. The server, its client and the shared libraries that the base lacks; no shell, no root.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import tempfile
from pathlib import Path

import rootfs
import sbom
from docker_cli import LABEL, REPOSITORY, Unbuildable, digest, run
from wheels import CACHE, project

NAME = "quelea-redis"
DEBS = CACHE / "debs"
RECIPE = Path(__file__).with_name("redis.Dockerfile")
# The programs, and libraries of theirs that a Debian without Redis may lack; the rest any Debian has.
PACKAGES = ("redis-tools", "liblzf1", "libjemalloc2", "libatomic1", "libsystemd0")
SERVER, CLIENT = "usr/bin/redis-check-rdb", "usr/bin/redis-cli"  # redis-server is a link to the first
DESCRIPTION = "Redis: jobs and messages of Quelea's ingestion"


def version() -> str:
    """The tag beside the hash: that of the services, as the chart asks for one tag."""
    found: str = project("services/search")["version"]
    return found


def packages(*, fresh: bool = False) -> list[Path]:
    """The packages' files, from the cache unless `fresh`."""
    if fresh or not DEBS.is_dir():
        unfinished = DEBS.with_suffix(".part")
        shutil.rmtree(unfinished, ignore_errors=True)
        unfinished.mkdir(parents=True)
        try:
            run("apt-get", "download", "-qq", *PACKAGES, cwd=unfinished)
        except Unbuildable as error:
            if "is not on this machine" in str(error):
                raise Unbuildable(f"{NAME} is made of Debian's packages, and {error}: name the other images") from None
            run("apt-get", "update", "-qq")
            run("apt-get", "download", "-qq", *PACKAGES, cwd=unfinished)
        shutil.rmtree(DEBS, ignore_errors=True)
        unfinished.rename(DEBS)
    return sorted(DEBS.glob("*.deb"))


def identity(base: str, debs: list[Path]) -> str:
    """Hash of the image that would be built."""
    total = hashlib.sha256(base.encode())
    for path in (RECIPE, Path(__file__), *debs):
        total.update(f"{path.name} {digest(path)}\n".encode())
    return total.hexdigest()


def contents(debs: list[Path], unpacked: Path, base: dict[str, bytes | Path | str]) -> dict[str, Path]:
    """Path in the image → file: the programs, and every library that they load and the base has not.

    Raises:
        rootfs.Machine: A library is neither in the packages nor on this machine.
    """
    for deb in debs:
        run("dpkg-deb", "-x", str(deb), str(unpacked))
    programs = {"usr/local/bin/redis-server": unpacked / SERVER, "usr/local/bin/redis-cli": unpacked / CLIENT}
    folders = sorted({str(path.parent) for path in unpacked.rglob("*.so.*")})
    linked = run("env", f"LD_LIBRARY_PATH={':'.join(folders)}", "ldd", *map(str, programs.values()))
    if missing := set(re.findall(r"^\s*(\S+) => not found", linked, re.MULTILINE)):
        raise rootfs.Machine(f"Redis needs {', '.join(sorted(missing))}, which this machine lacks")
    there = {Path(name).name for name in base}
    libraries = {Path(found) for found in re.findall(r"=> (/\S+) \(0x", linked)}
    folder = next(Path(name).parent for name in base if Path(name).name == "libc.so.6")
    return programs | {f"{folder}/{path.name}": path.resolve() for path in libraries if path.name not in there}


def build(base: str, of: str, debs: list[Path], base_files: dict[str, bytes | Path | str]) -> None:
    """One `docker build`, without network; `of` is its identity."""
    with tempfile.TemporaryDirectory() as scratch:
        context, unpacked = Path(scratch, "context"), Path(scratch, "unpacked")
        files = contents(debs, unpacked, base_files)
        known = [run("dpkg-deb", "-f", str(deb), "Package", "Version") for deb in debs]
        parts = [sbom.of_package(*re.findall(r": (\S+)", text)) for text in known]
        listed = sbom.owners(path for path in files.values() if not path.is_relative_to(unpacked))
        parts += [sbom.of_package(*one) for one in sorted(listed) if one[0] not in PACKAGES]
        bill = sbom.write(NAME, version(), of, [*parts, *sbom.of_base(base, base_files)])
        kept = CACHE / "sbom" / f"{NAME}.cdx.json"
        kept.parent.mkdir(parents=True, exist_ok=True)
        kept.write_text(bill)
        for path, source in {**files, "usr/share/quelea/sbom.cdx.json": kept}.items():
            target = context / "files" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
            target.chmod(0o755 if "bin/" in path or ".so" in path else 0o644)
        shutil.copy(RECIPE, context)
        labels = {
            LABEL: of,
            "quelea": "image",
            "org.opencontainers.image.title": NAME,
            "org.opencontainers.image.description": DESCRIPTION,
            "org.opencontainers.image.version": version(),
            "org.opencontainers.image.licenses": "BSD-3-Clause",
            "org.opencontainers.image.base.name": base,
        }
        command = ["docker", "build", "--quiet", "--network", "none", "-f", str(context / RECIPE.name)]
        command += ["--build-arg", f"BASE={base}"]
        for key, value in labels.items():
            command += ["--label", f"{key}={value}"]
        for tag in (of[:12], version(), "latest"):
            command += ["-t", f"{NAME}:{tag}"]
        run(*command, str(context), cwd=REPOSITORY, environment={"DOCKER_BUILDKIT": "0"})
