"""Files and options of others, read within bounds; what is wrong is said with its place and what would be right."""

from __future__ import annotations

import csv
import gzip
import json
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any

MOST_BYTES = 256_000_000
_MOST_ROWS = 1_000_000


class BadInput(ValueError):
    """What was given cannot be used; the message names what is wrong and what to do."""


def read_rows(path: Path, shape: str) -> Iterator[tuple[int, dict[str, Any]]]:
    """Rows of a .csv file with a header, or of a JSON object a line (empty lines aside); each with its line's number.

    Args:
        path: The file.
        shape: What is expected, for the message.

    Raises:
        BadInput: It cannot be read, a line is no JSON object, or there are more than a million.
    """
    try:
        with path.open(encoding="utf-8-sig", newline="") as file:
            rows = _table(file) if path.suffix.lower() == ".csv" else _lines(file, path, shape)
            for count, row in enumerate(rows, 1):
                if count > _MOST_ROWS:
                    raise BadInput(f"{path} holds more than {_MOST_ROWS:,} rows")
                yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise BadInput(f"{path} cannot be read: {error}") from error


def _table(file: IO[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    table = csv.DictReader(file)
    return ((table.line_num, dict(row)) for row in table)


def _lines(file: IO[str], path: Path, shape: str) -> Iterator[tuple[int, dict[str, Any]]]:
    for number, line in enumerate(file, 1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError as error:
            raise BadInput(f"{path}, line {number} is no JSON: {error}. It must be {shape}") from error
        if not isinstance(row, dict):
            raise BadInput(f"{path}, line {number} must be {shape}, got {show(row)}")
        yield number, row


def read_json(path: Path, shape: str) -> Any:
    """The value in a file of JSON, or of JSON compressed with gzip (`.gz`).

    Args:
        path: The file.
        shape: What is expected, for the message.

    Raises:
        BadInput: It cannot be read, is no JSON, or says one name twice in one object.
    """
    try:
        return json.loads(_read_text(path), object_pairs_hook=_without_repeats)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        raise BadInput(f"{path} is not JSON: {error.msg} at {place}. It must be {shape}") from error
    except RecursionError as error:
        raise BadInput(f"{path} is nested too deeply. It must be {shape}") from error
    except _RepeatedError as error:
        raise BadInput(f"{path}: the name {error} stands twice in one object; one of them would be lost") from error


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
        raise BadInput(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from error
    except UnicodeDecodeError as error:
        raise BadInput(f"cannot read {path}: it is not UTF-8 text (byte {error.start})") from error
    if len(raw) > MOST_BYTES:
        raise BadInput(f"{path} holds more than {MOST_BYTES:,} bytes")
    return text


def _without_repeats(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise _RepeatedError(repr(key))
        found[key] = value
    return found
