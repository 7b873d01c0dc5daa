"""JSON files of others, read within bounds; what is wrong is said with the file's name."""

from __future__ import annotations

import gzip
import json
import zlib
from pathlib import Path
from typing import Any

from quelea_evaluation.arena.errors import ArenaError

MOST_BYTES = 256_000_000


def read_json(path: Path, shape: str) -> Any:
    """The value in a file of JSON, or of JSON compressed with gzip (`.gz`).

    Args:
        path: The file.
        shape: What is expected, for the message.

    Raises:
        ArenaError: It cannot be read, is no JSON, or says one name twice in one object.
    """
    try:
        return json.loads(_read_text(path), object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise ArenaError(f"{path} is not JSON: {error.msg} at {place}. It must be {shape}") from error
    except RecursionError as error:
        raise ArenaError(f"{path} is nested too deeply. It must be {shape}") from error
    except _RepeatedError as error:
        raise ArenaError(f"{path}: the name {error} stands twice in one object; one of them would be lost") from error


def show(value: Any) -> str:
    """A value as JSON, shortened for a message."""
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else f"{text[:57]}…"


class _RepeatedError(Exception):
    """A name that stands twice."""


def _read_text(path: Path) -> str:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            raw = file.read(MOST_BYTES + 1)
        text = raw.decode("utf-8-sig")
    except (OSError, EOFError, zlib.error) as error:
        raise ArenaError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise ArenaError(f"cannot read {path}: it is not UTF-8 text (byte {error.start})") from error
    if len(raw) > MOST_BYTES:
        raise ArenaError(f"{path} holds more than {MOST_BYTES:,} bytes")
    return text


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedError(repr(key))
        found[key] = value
    return found
