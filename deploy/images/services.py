"""Builds the services' images and Redis', with no container registry: `python deploy/images/services.py [SERVICE …]`.

An image whose content is there already is not built. Its content is one hash (label `quelea.content`, and its tag): the
base, the recipe, every wheel, our packages, the catalogue of tools. Tags: that hash, the version, latest.

Options: --base IMAGE takes a base from a registry instead of making one (any with CPython of this version as python3);
--force builds in any case; --check only says whether a build is due (exit 3 if it is); --source URL for the label of
that name; --torch adds torch to the embedder's image, --cuda torch for GPUs to it and to the training's.
"""

from __future__ import annotations

import argparse
import hashlib
import shutil
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import redis_image
import rootfs
import sbom
import wheels
from docker_cli import LABEL, REPOSITORY, Unbuildable, digest, drop_old_stages, label_of, make_base, run, size_of

HERE = Path(__file__).resolve().parent
RECIPE = ("service.Dockerfile", "install_service.py")
SBOM = "usr/share/quelea/sbom.cdx.json"


@dataclass(frozen=True)
class Image:
    """One image: its target in the Dockerfile, its name, and files of ours beside the packages."""

    service: str
    name: str
    files: dict[str, Path] = field(default_factory=dict)
    """Path in the image → file of this checkout."""
    within: str = "services/"
    """Where its distribution's folder is."""
    by_name: bool = False
    """Built where it is asked for by its name alone: gigabytes that few want."""

    @property
    def folder(self) -> str:
        """That of its distribution."""
        return f"{self.within}{self.service}"


IMAGES = [
    Image("gateway", "quelea-gateway"),
    Image("retriever", "quelea-retriever"),
    Image("generator", "quelea-generator"),
    Image("search", "quelea-search"),
    Image(
        "agent-sandbox",
        "quelea-sandbox",
        {"opt/quelea/catalogue.jsonl": REPOSITORY / ".cache" / "tools" / "catalogue.jsonl"},
    ),
    Image("evaluation", "quelea-evaluation", within=""),
    Image("embedder", "quelea-embedder"),
    Image("training", "quelea-training", within="", by_name=True),
]


@dataclass(frozen=True)
class Parts:
    """What goes into one image, layer by layer."""

    shared: list[Path]
    libraries: list[Path]
    ours: list[Path]
    files: dict[str, Path]

    def identity(self, base: str) -> str:
        """Hash of the image that would be built from these on this base."""
        total = hashlib.sha256(base.encode())
        for name in RECIPE:
            total.update(f"{name} {digest(HERE / name)}\n".encode())
        for wheel in (*self.shared, *self.libraries, *self.ours):
            total.update(f"{wheel.name} {digest(wheel)}\n".encode())
        for path, source in sorted(self.files.items()):
            total.update(f"{path} {digest(source)}\n".encode())
        return total.hexdigest()


def parts_of(image: Image, *, torch: bool, cuda: bool) -> Parts:
    """Collect them; a second call finds them in the cache."""
    missing = [str(path.relative_to(REPOSITORY)) for path in image.files.values() if not path.is_file()]
    if missing:
        raise Unbuildable(f"{image.name} wants {', '.join(missing)}: make tools")
    folder = image.folder
    return Parts(
        shared=sorted(wheels.shared().iterdir()),
        libraries=wheels.libraries(folder, torch=torch, cuda=cuda),
        ours=[wheels.ours(distribution) for distribution in wheels.needed(folder)],
        files=image.files,
    )


_SOURCES = ("services", "libs", "proto", "client", "cli", "evaluation", "training", "deploy/images")


def _revision() -> str:
    try:
        dirty = run("git", "status", "--porcelain", "--", *_SOURCES, cwd=REPOSITORY)
        return run("git", "rev-parse", "HEAD", cwd=REPOSITORY) + ("-modified" if dirty else "")
    except Unbuildable:
        return ""  # an archive of the sources, without their history


def _labels(image: Image, identity: str, base: str, source: str) -> list[str]:
    table = wheels.project(image.folder)
    labels = {
        LABEL: identity,
        "quelea": "image",
        "org.opencontainers.image.title": image.name,
        "org.opencontainers.image.description": table["description"],
        "org.opencontainers.image.version": table["version"],
        "org.opencontainers.image.revision": _revision(),
        # Of the whole, as declared; what is inside says so each for itself in the SBOM.
        "org.opencontainers.image.licenses": table.get("license") or "NOASSERTION",
        "org.opencontainers.image.source": source,
        "org.opencontainers.image.base.name": base,
    }
    return [word for key, value in labels.items() if value for word in ("--label", f"{key}={value}")]


def build(image: Image, parts: Parts, identity: str, base: str, source: str, listed: list[sbom.Component]) -> None:
    """One `docker build`, without network; the SBOM goes into the image and into .cache/images/sbom."""
    table = wheels.project(image.folder)
    everything = [*parts.shared, *parts.libraries, *parts.ours]
    document = sbom.write(image.name, table["version"], identity, [*map(sbom.of_wheel, everything), *listed])
    kept = wheels.CACHE / "sbom" / f"{image.name}.cdx.json"
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(document)
    with tempfile.TemporaryDirectory(dir=wheels.CACHE) as scratch:
        context = Path(scratch)
        for name in RECIPE:
            shutil.copy(HERE / name, context / name)
        layers = {"pip": list(wheels.pip_wheel().iterdir()), "shared": parts.shared}
        for layer, chosen in {**layers, "libraries": parts.libraries, "ours": parts.ours}.items():
            (context / layer).mkdir()
            for wheel in chosen:
                (context / layer / wheel.name).hardlink_to(wheel)
        for path, file in {**parts.files, SBOM: kept}.items():
            (context / "files" / path).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(file, context / "files" / path)
        command = ["docker", "build", "--quiet", "--network", "none", "-f", str(context / "service.Dockerfile")]
        command += ["--target", image.service, "--build-arg", f"BASE={base}", *_labels(image, identity, base, source)]
        for tag in (identity[:12], table["version"], "latest"):
            command += ["-t", f"{image.name}:{tag}"]
        run(*command, str(context), environment={"DOCKER_BUILDKIT": "0"})


def make(image: Image, options: argparse.Namespace, files: dict[str, bytes | Path | str], base_identity: str) -> bool:
    """Build it if due, and say what there is; whether a build was due."""
    began = time.monotonic()
    parts = parts_of(image, torch=options.torch, cuda=options.cuda)
    identity = parts.identity(base_identity)
    due = options.force or label_of(f"{image.name}:latest") != identity
    if due and not options.check:
        base = options.base or make_base(files, base_identity)
        build(image, parts, identity, base, options.source, sbom.of_base(base, files))
    _say(image.name, identity, due, began, options)
    return due


def make_redis(options: argparse.Namespace, files: dict[str, bytes | Path | str], base_identity: str) -> bool:
    """The same of Redis' image, which is no service of ours."""
    began = time.monotonic()
    debs = redis_image.packages(fresh=options.force)
    identity = redis_image.identity(base_identity, debs)
    due = options.force or label_of(f"{redis_image.NAME}:latest") != identity
    if due and not options.check:
        redis_image.build(make_base(files, base_identity), identity, debs, files)
    _say(redis_image.NAME, identity, due, began, options)
    return due


def _say(name: str, identity: str, due: bool, began: float, options: argparse.Namespace) -> None:
    if options.check:
        said = "due" if due else "already there"
    else:
        done = f"built in {time.monotonic() - began:.0f} s" if due else "already there"
        said = f"{size_of(f'{name}:latest'):.0f} MB, {done}"
    print(f"{name}:{identity[:12]} {said}", flush=True)  # noqa: T201 - a command line prints


def main() -> int:
    """Build what was asked for, in an order that has the largest last."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    names = ["redis", *(image.service for image in IMAGES)]
    parser.add_argument("services", nargs="*", metavar="SERVICE", help=f"of {', '.join(names)}; none: all but training")
    parser.add_argument("--base", default="", help="an image to build on instead of a base made here")
    parser.add_argument("--source", default="", help="address of the sources, for a label")
    parser.add_argument("--force", action="store_true", help="build also when the same content is there")
    parser.add_argument("--check", action="store_true", help="only say whether a build is due")
    parser.add_argument("--torch", action="store_true", help="let the embedder have torch, for other models")
    parser.add_argument("--cuda", action="store_true", help="let embedder and training have a torch for GPUs")
    options = parser.parse_args()
    if options.base and "redis" in options.services:
        parser.error("quelea-redis is for where there is no registry: with --base, take the registry's redis")
    if unknown := set(options.services) - set(names):
        parser.error(f"no service {', '.join(sorted(unknown))}; there are {', '.join(names)}")
    try:
        run("docker", "version", "--format", "{{.Server.Version}}")
        files = {} if options.base else rootfs.contents()
        base_identity = options.base or rootfs.fingerprint(files)
        wanted = [
            image for image in IMAGES if image.service in options.services or not (options.services or image.by_name)
        ]
        wheels.fetch([image.folder for image in wanted], torch=options.torch or options.cuda)
        due = []
        if "redis" in options.services or not (options.services or options.base):
            due.append(make_redis(options, files, base_identity))
        due += [make(image, options, files, base_identity) for image in wanted]
        if options.check:
            return 3 if any(due) else 0
        if any(due):
            drop_old_stages()
    except (Unbuildable, rootfs.Machine) as error:
        print(f"service images: {error}", file=sys.stderr)  # noqa: T201 - a command line prints
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
