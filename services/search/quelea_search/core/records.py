"""Dataclasses as the JSON in which jobs, pages of the web and watches are stored."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def encode(record: DataclassInstance) -> str:
    """A record as text."""
    return json.dumps(dataclasses.asdict(record), ensure_ascii=False)


def decode_fields(kind: type[DataclassInstance], text: str) -> dict[str, Any]:
    """The fields of a record of this kind that `encode` made; those of a later version are left out."""
    names = {field.name for field in dataclasses.fields(kind)}
    return {name: value for name, value in json.loads(text).items() if name in names}
