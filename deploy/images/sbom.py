"""The list of what is in a service's image, as CycloneDX 1.5: the wheels, the interpreter, the base's shared libraries.

From the metadata of the wheels that the build unpacks, with their hashes. The same content gives the same bytes.
"""

from __future__ import annotations

import json
import platform
import re
import subprocess
import uuid
from collections.abc import Iterable
from importlib.metadata import PathDistribution
from pathlib import Path
from zipfile import Path as ZipPath
from zipfile import ZipFile

from cyclonedx.contrib.license.factories import LicenseFactory
from cyclonedx.model import HashAlgorithm, HashType
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.output.json import JsonV1Dot5
from docker_cli import digest
from packageurl import PackageURL

_NAMESPACE = uuid.UUID("6f0a3f3e-6c2b-5a39-9a55-0f6f1c2f8a10")
_LONGEST_NAME = 100  # some put the whole text where a licence's name belongs


def _licence(metadata: PathDistribution) -> str:
    expression = metadata.metadata.get("License-Expression") or ""
    classifiers = [
        line.rpartition(" :: ")[2]
        for line in metadata.metadata.get_all("Classifier") or []
        if line.startswith("License :: ") and line != "License :: OSI Approved"
    ]
    declared = (metadata.metadata.get("License") or "").strip()
    short = declared if declared.upper() != "UNKNOWN" and len(declared) <= _LONGEST_NAME else ""
    return expression or short or " AND ".join(classifiers)


def of_wheel(wheel: Path) -> Component:
    """A distribution, with its licence as it declares it."""
    with ZipFile(wheel) as archive:
        (info,) = {name.split("/")[0] for name in archive.namelist() if re.match(r"[^/]+\.dist-info/", name)}
        found = PathDistribution(ZipPath(archive, f"{info}/"))  # type: ignore[arg-type]  # a Path of a zip will do
        name, version, licence = found.metadata["Name"], found.metadata["Version"], _licence(found)
        summary = found.metadata.get("Summary")
    purl = PackageURL("pypi", None, re.sub(r"[-_.]+", "-", name).lower(), version)
    return Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        description=summary,
        bom_ref=purl.to_string(),
        purl=purl,
        hashes=[HashType(alg=HashAlgorithm.SHA_256, content=digest(wheel))],
        licenses=[LicenseFactory().make_from_string(licence)] if licence else [],
    )


def owners(libraries: Iterable[Path]) -> set[tuple[str, str]]:
    """Name and version of the Debian packages that own these files; none on another kind of system."""
    found: set[tuple[str, str]] = set()
    for library in libraries:
        for path in (str(library), f"/usr{library}", str(library).removeprefix("/usr")):
            try:
                owner = subprocess.run(["dpkg-query", "-S", path], capture_output=True, text=True, check=False)  # noqa: S603, S607 - the machine's own files
            except FileNotFoundError:
                return set()
            if owner.returncode == 0:
                package = owner.stdout.split(": ")[0]
                shown = ["dpkg-query", "-W", "-f", "${Package} ${Version}", package]
                name, version = subprocess.run(shown, capture_output=True, text=True, check=True).stdout.split(" ")  # noqa: S603 - as above
                found.add((name, version))
                break
    return found


def of_package(name: str, version: str) -> Component:
    """A package of Debian."""
    purl = PackageURL("deb", "debian", name, version)
    return Component(name=name, version=version, type=ComponentType.LIBRARY, bom_ref=purl.to_string(), purl=purl)


def of_base(base: str, files: dict[str, bytes | Path | str]) -> list[Component]:
    """What the base brings: the image's name if it comes from elsewhere, else interpreter and shared libraries."""
    if not files:
        return [Component(name=base, type=ComponentType.CONTAINER, bom_ref=f"base:{base}")]
    version = platform.python_version()
    purl = PackageURL("generic", None, "python", version)
    parts = [
        Component(
            name="CPython",
            version=version,
            type=ComponentType.PLATFORM,
            bom_ref=purl.to_string(),
            purl=purl,
            licenses=[LicenseFactory().make_from_string("Python-2.0")],
        )
    ]
    libraries = [path for name, path in files.items() if isinstance(path, Path) and "/python3" not in name]
    return parts + [of_package(*one) for one in sorted(owners(path for path in libraries if ".so" in path.name))]


def write(title: str, version: str, identity: str, parts: list[Component]) -> str:
    """The document, as JSON. Its serial number follows from the image's content."""
    image = Component(name=title, version=version, type=ComponentType.CONTAINER, bom_ref=f"image:{title}")
    bom = Bom(components=parts, serial_number=uuid.uuid5(_NAMESPACE, identity), metadata=BomMetaData(component=image))
    bom.register_dependency(image, parts)
    document = json.loads(JsonV1Dot5(bom).output_as_string())
    del document["metadata"]["timestamp"]  # optional, and another one each time
    return json.dumps(document, indent=1, sort_keys=True)
