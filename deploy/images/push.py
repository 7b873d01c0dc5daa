"""Pushes images that are here to a registry: `python deploy/images/push.py REGISTRY [NAME …]` (`make push REGISTRY=…`).

REGISTRY is a host, with a port and folders where it has them: registry.example.com:5000/team. Each image goes up under
its version and under the hash of its content, and its digest is printed as a chart's `image.digest` wants it. Log in
before (`docker login HOST`); no password passes through here.

Options: --tag TAG adds one more tag, as latest; none of them is added by itself.
"""

from __future__ import annotations

import argparse
import re
import sys

import redis_image
import runner
from docker_cli import Unbuildable, label_of, run
from wheels import project

from services import IMAGES

NAMES = [*(image.name for image in IMAGES), redis_image.NAME, runner.IMAGE]
_BY_NAME = {image.name for image in IMAGES if image.by_name}
_HOST = r"[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:\d{1,5})?"
_REGISTRY = re.compile(rf"{_HOST}(/[a-z0-9]+([._-]+[a-z0-9]+)*)*")
_TAG = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}")
_PUSH_SECONDS = 1800
"""Of one tag: the embedder with torch is a gigabyte."""


def version() -> str:
    """That of the services, which is every image's."""
    found: str = project("services/gateway")["version"]
    return found


def content(name: str) -> str:
    """Hash of an image's content, by its label.

    Args:
        name: As `make images` calls it.

    Raises:
        Unbuildable: The image is not here.
    """
    here = f"{name}:{version()}"
    found = label_of(here)
    if not found:
        target = "runner-image" if name == runner.IMAGE else "images"
        raise Unbuildable(f'{here} is not on this engine: make {target}, or say which to push (IMAGES="…")')
    return found


def push(name: str, registry: str, extra: str = "") -> str:
    """Push one image; `REGISTRY/NAME@sha256:…`.

    Args:
        name: As `make images` calls it.
        registry: Where to, without a slash at its end.
        extra: One more tag.

    Raises:
        Unbuildable: The image is not here, or the registry did not take it; says which.
    """
    there = f"{registry}/{name}"
    said = ""
    for tag in filter(None, (content(name)[:12], extra, version())):
        run("docker", "tag", f"{name}:{version()}", f"{there}:{tag}")
        said = run("docker", "push", f"{there}:{tag}", seconds=_PUSH_SECONDS)
    digest = re.findall(r"digest: (sha256:[0-9a-f]{64})", said)
    if not digest:
        raise Unbuildable(f"{there}: the registry told no digest:\n{said[-500:]}")
    return f"{there}@{digest[-1]}"


def main() -> int:
    """Push what was asked for, one after the other; 1 at the first that fails."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("registry", metavar="REGISTRY", help="host[:port][/folder], without https://")
    parser.add_argument(
        "names", nargs="*", metavar="NAME", help=f"of {', '.join(NAMES)}; none: all but {', '.join(_BY_NAME)}"
    )
    parser.add_argument("--tag", default="", help="one more tag")
    options = parser.parse_intermixed_args()  # make push puts --tag between
    registry = options.registry.rstrip("/")
    if not _REGISTRY.fullmatch(registry):
        parser.error(f"{options.registry!r} is no registry: write host[:port][/folder] in small letters, no https://")
    host = registry.partition("/")[0]
    if host != "localhost" and not set(host) & set(".:"):
        parser.error(f"Docker takes {host!r} for a folder of docker.io: write docker.io/{registry} if it is one")
    if options.tag and not _TAG.fullmatch(options.tag):
        parser.error(f"{options.tag!r} is no tag")
    if unknown := set(options.names) - set(NAMES):
        parser.error(f"no image {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    names = options.names or [name for name in NAMES if name not in _BY_NAME]
    try:
        for name in names:
            content(name)  # before anything goes up, so that what is there is whole
        for name in names:
            print(push(name, registry, options.tag), flush=True)  # noqa: T201 - a command line prints
    except Unbuildable as error:
        print(f"push: {error}", file=sys.stderr)  # noqa: T201 - a command line prints
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
