"""What a set of models is: its parts with their hashes, what they were made from and how well they do."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from quelea_kit.errors import Conflict, InvalidInput, NotFound
from quelea_kit.files.fitted_files import fits_encoder

FORMAT: Final = 1
MANIFEST: Final = "manifest.json"
PARTS: Final[dict[str, str]] = {
    "encoder": "encoder",
    "ranker": "ranker.json",
    "gate": "gate.json",
    "verifier": "verifier",
    "adapter": "adapter",
}
"""Part -> its file or folder in a set; a model's own folder lies in that one, as its name is part of its id.
quelea_cli.stack.model_set looks for them here."""
FITTED: Final = ("ranker", "gate")
"""Parts that say which encoder they were fitted with."""
_MODELS: Final = {
    "encoder": ("model", "config.json"),
    "verifier": ("model", "config.json"),
    "adapter": ("adapter", "adapter_config.json"),
}
"""Part -> the folder of its training that holds it, and a file by which it is known."""
_NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,63}")
_LARGEST_JSON = 1 << 20


@dataclass(frozen=True)
class Part:
    """One model of a set."""

    files: dict[str, str]
    """SHA-256 of each file, by its path in the set's folder."""
    licence: str = ""
    """Under which it may be used: its own, and that of what it was made from."""
    version: str = ""
    """As the part names itself: an encoder's id, when and on what a gate was fitted."""


@dataclass(frozen=True)
class ModelSet:
    """Models that belong together."""

    name: str
    created: str
    """ISO 8601, UTC."""
    encoder_id: str
    """The encoder that gate and ranker were fitted with, as `quelea_kit.files.fitted_files.fits_encoder` takes it."""
    parts: dict[str, Part]
    metrics: dict[str, float] = field(default_factory=dict)
    """By "set/measure", for example "tatqa/MRR@10"."""
    data: dict[str, Any] = field(default_factory=dict)
    """The manifest of the data that it was made from: sources, hashes, licences."""
    note: str = ""
    format: int = FORMAT


def check_name(name: str) -> str:
    """A name that is a folder's. Raises InvalidInput."""
    if not _NAME.fullmatch(name):
        raise InvalidInput(
            f"{name!r} cannot name a set: small letters, digits, '.', '_' and '-', at most 64, first a letter or digit."
        )
    return name


def read(folder: Path) -> ModelSet:
    """The manifest of a set. Raises NotFound without one, InvalidInput when it cannot be used."""
    try:
        said = json.loads((folder / MANIFEST).read_text("utf-8"))
    except FileNotFoundError as error:
        raise NotFound(f"{folder} is no set of models: it has no {MANIFEST}.") from error
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{folder / MANIFEST} cannot be read: {error}.") from error
    try:
        if said["format"] != FORMAT:
            raise InvalidInput(f"{folder / MANIFEST} has format {said['format']}, and this version reads {FORMAT}.")
        parts = {check_part(name): Part(**part) for name, part in said.pop("parts").items()}
        return ModelSet(parts=parts, **said)
    except (KeyError, TypeError, AttributeError) as error:
        raise InvalidInput(f"{folder / MANIFEST} is not a manifest of models ({error}).") from error


def check_part(name: str) -> str:
    """A part that there is. Raises InvalidInput."""
    if name not in PARTS:
        raise InvalidInput(f"There is no part {name!r}; there are {', '.join(PARTS)}.")
    return name


def verify(folder: Path) -> ModelSet:
    """The manifest, when every file is as it says and the parts belong together.

    Raises:
        Conflict: a file is missing, was changed or is not named, or gate and ranker are for different encoders.
    """
    found = read(folder)
    for name, part in found.parts.items():
        there = _hashes(folder, PARTS[name])
        for path in sorted(part.files.keys() | there.keys()):
            if part.files.get(path) != there.get(path):
                what = (
                    "is missing" if path not in there else "is not of it" if path not in part.files else "was changed"
                )
                raise Conflict(f"{folder / path} {what}: the set {found.name} is not as it was made; make it anew.")
    check_encoders(folder, found)
    return found


def check_encoders(folder: Path, found: ModelSet) -> None:
    """Gate and ranker are for the set's encoder. Raises Conflict, and says what mends it."""
    for name in FITTED:
        if name in found.parts:
            fitted_with = _encoder_of(folder / PARTS[name])
            if (
                fitted_with
                and found.encoder_id
                and not (fits_encoder(fitted_with, found.encoder_id) or fits_encoder(found.encoder_id, fitted_with))
            ):
                raise Conflict(
                    f"The {name} of the set {found.name} was fitted with {fitted_with}, and its encoder is "
                    f"{found.encoder_id}: fit it with that encoder by `quelea train {name}`, and make the set anew."
                )


def make(
    shelf: Path,
    name: str,
    given: Mapping[str, Path],
    *,
    licences: Mapping[str, str],
    metrics: Mapping[str, float],
    data: Mapping[str, Any],
    note: str = "",
    encoder_id: str = "",
) -> ModelSet:
    """Copy parts into a new set on the shelf, with manifest and card; it is there whole or not at all.

    Args:
        shelf: Folder of sets.
        name: Of the set; there must be none of it yet.
        given: Part -> its file or folder; the folder of its training will do.
        licences: Part -> licence; each part must have one.
        metrics, data, note: As ModelSet has them.
        encoder_id: The encoder's name, or name@hash; the one that gate or ranker name when empty.

    Raises:
        Conflict: there is a set of that name, or the parts do not belong together.
        InvalidInput: a part is unknown, missing or without a licence.
    """
    from quelea_training.sets.card import write_card  # noqa: PLC0415  # which reads a ModelSet

    check_name(name)
    if not given:
        raise InvalidInput(f"A set has at least one part of {', '.join(PARTS)}.")
    for part, path in given.items():
        check_part(part)
        if not path.exists():
            raise InvalidInput(f"The {part} is not at {path}.")
        if path.is_dir() == PARTS[part].endswith(".json"):
            raise InvalidInput(f"The {part} must be a {'file' if path.is_dir() else 'folder'}, and {path} is none.")
        if part in _MODELS:
            _model_at(part, path)
        if not licences.get(part):
            raise InvalidInput(f"Say under which licence the {part} may be used: --licence {part}=….")
    if (shelf / name).exists():
        raise Conflict(f"There is a set {name} already; take another name.")
    shelf.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=".new-", dir=shelf) as temporary:
        fresh = Path(temporary) / name
        fresh.mkdir()
        for part, path in given.items():
            target = fresh / PARTS[part]
            if part in _MODELS:
                shutil.copytree(_model_at(part, path), target / path.resolve().name)
            else:
                shutil.copyfile(path, target)
        encoders = [e for part in FITTED if part in given and (e := _encoder_of(fresh / PARTS[part]))]
        found = ModelSet(
            name=name,
            created=datetime.now(UTC).isoformat(timespec="seconds"),
            encoder_id=encoder_id or max(encoders, key=len, default=""),
            parts={
                part: Part(_hashes(fresh, PARTS[part]), licences[part], _version_of(fresh / PARTS[part]))
                for part in given
            },
            metrics=dict(metrics),
            data=dict(data),
            note=note,
        )
        check_encoders(fresh, found)
        (fresh / MANIFEST).write_text(json.dumps(asdict(found), ensure_ascii=False, indent=1) + "\n", "utf-8")
        write_card(fresh, found)
        os.rename(fresh, shelf / name)  # noqa: PTH104  # refuses a folder that came meanwhile, which replace does not
    return found


def _model_at(part: str, path: Path) -> Path:
    """The folder of a model, given that or the folder of its training. Raises InvalidInput where there is none."""
    inside, known_by = _MODELS[part]
    for folder in (path, path / inside):
        if (folder / known_by).is_file():
            return folder
    raise InvalidInput(f"The {part} is not at {path}: {known_by} is neither there nor in its folder {inside}.")


def _hashes(folder: Path, part: str) -> dict[str, str]:
    """SHA-256 of the part's files, by path in the set."""
    whole = folder / part
    files = sorted(p for p in whole.rglob("*") if p.is_file()) if whole.is_dir() else [whole] if whole.is_file() else []
    found = {}
    for path in files:
        with path.open("rb") as file:
            found[path.relative_to(folder).as_posix()] = hashlib.file_digest(file, "sha256").hexdigest()
    return found


def _json_of(path: Path) -> dict[str, Any]:
    try:
        with path.open("rb") as file:
            said = json.loads(file.read(_LARGEST_JSON))
    except (OSError, ValueError) as error:
        raise InvalidInput(f"{path.name} is not JSON: {error}.") from error
    if not isinstance(said, dict):
        raise InvalidInput(f"{path.name} is not one JSON object.")
    return said


def _encoder_of(path: Path) -> str:
    return str(_json_of(path).get("encoder", ""))


def _version_of(path: Path) -> str:
    return str(_json_of(path).get("fitted", "")) if path.suffix == ".json" else ""
