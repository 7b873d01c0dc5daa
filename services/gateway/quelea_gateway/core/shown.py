"""What the reader was shown: kept with every answer, so that it can be told months later what it rested on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from quelea_gateway.core.model import Passage, Source


@dataclass(frozen=True)
class Shown:
    """A passage by its place: the text is pages[page].text[start:end] of the document, in code points."""

    number: int
    """The n of [n], and of the passages that verdicts name."""
    document_id: str
    title: str
    uri: str
    page: int
    start: int
    end: int
    published: str
    source: Source


def shown(evidence: Sequence[Passage]) -> tuple[Shown, ...]:
    """The passages, numbered from 1."""
    return tuple(
        Shown(number, p.document_id, p.title, p.uri, p.page, p.start, p.end, p.published, p.source)
        for number, p in enumerate(evidence, start=1)
    )
