"""Sections of the documents in a knowledge base, over the gateway's REST: what questions are written about."""

from __future__ import annotations

import sys
import unicodedata
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

from quelea_evaluation.endpoints.client import Client
from quelea_evaluation.omni.prompts import language_of
from quelea_evaluation.omni.questions.model import Passage, passage_of
from quelea_evaluation.reports.store import RowFile

LONGEST = 2048
"""Characters of a section, as OmniEval has them."""
SHORTEST = 200
"""A page with fewer characters says too little to ask about."""


@dataclass(frozen=True)
class Section:
    """A piece of one page that questions are written about."""

    place: Passage
    language: str

    @property
    def id(self) -> str:
        """Document, page and span."""
        return self.place.id


@dataclass(frozen=True, slots=True)
class SectionPlace:
    """Where a section is kept, and what is known of it without reading it."""

    at: int
    """The byte where it begins."""
    language: str


class SectionFile:
    """Sections in a file, document by document; in memory are only their places.

    Args:
        path: What is there is of an earlier call, and is removed.
    """

    def __init__(self, path: Path) -> None:
        path.unlink(missing_ok=True)
        self._rows = RowFile(path)
        self._places: list[SectionPlace] = []

    def add(self, section: Section) -> None:
        """Keep a section."""
        at = self._rows.append({"id": section.id, "language": section.language, **asdict(section.place)})
        self._places.append(SectionPlace(at, sys.intern(section.language)))

    def read(self, place: SectionPlace) -> Section:
        """The section with its text."""
        row = self._rows.read_at(place.at)
        return Section(passage_of("sections.jsonl", row), row["language"])

    def __iter__(self) -> Iterator[SectionPlace]:
        return iter(self._places)

    def __len__(self) -> int:
        return len(self._places)

    def close(self) -> None:
        """Close the file; it stays, so that a reader of questions may look up what they were written about."""
        self._rows.close()


async def documents(gateway: Client) -> list[dict[str, Any]]:
    """Every document, in the order of their ids.

    Raises:
        EndpointError: The gateway did not answer, or not as a gateway does.
    """
    listed = [one async for one in gateway.each("/v1/documents", "documents", 100)]
    return sorted(listed, key=lambda document: str(document["id"]))


async def sections_of(gateway: Client, document: dict[str, Any], most: int) -> list[Section]:
    """At most so many sections of a document, one of a page, spread evenly over it.

    Raises:
        EndpointError: The gateway did not answer.
    """
    pages = int(document.get("pages") or 0)
    wanted = sorted({1 + at * pages // most for at in range(most)} if pages > most else set(range(1, pages + 1)))
    found = []
    for number in wanted:
        page = await gateway.get(f"/v1/documents/{quote(str(document['id']), safe='')}/pages/{number}")
        section = section_of(str(document["id"]), str(document.get("title", "")), number, str(page.get("text", "")))
        if section is not None:
            found.append(section)
    return found


def section_of(document_id: str, title: str, page: int, text: str) -> Section | None:
    """The beginning of a page, cut at the end of a line; None when the page says too little."""
    start = len(text) - len(text.lstrip())
    end = min(len(text), start + LONGEST)
    if end < len(text):
        line = text.rfind("\n", start + LONGEST // 2, end)
        end = line if line > 0 else end
    piece = text[start:end].rstrip()
    if len(piece) < SHORTEST:
        return None
    return Section(Passage(document_id, page, start, start + len(piece), piece, title), language_of(piece))


def _narrow(character: str) -> str:
    """The character in its ordinary width; as it is where that would be several."""
    narrow = unicodedata.normalize("NFKC", character)
    return narrow if len(narrow) == 1 else character


def locate(quoted: str, section: Section) -> Passage | None:
    """Where a quotation stands in its section, whitespace and the width of characters aside; None when it does not.

    Models write "89.2, up" for "89.2，up": the two commas are one character in two widths (Unicode's NFKC).
    """
    text = section.place.text
    places = [at for at, character in enumerate(text) if not character.isspace()]
    dense = "".join(_narrow(text[at]) for at in places)
    wanted = "".join(_narrow(character) for character in quoted if not character.isspace())
    at = dense.find(wanted) if wanted else -1
    if at < 0:
        return None
    start, end = places[at], places[at + len(wanted) - 1] + 1
    offset = section.place.start
    return Passage(
        section.place.document_id,
        section.place.page,
        offset + start,
        offset + end,
        text[start:end],
        section.place.title,
    )
