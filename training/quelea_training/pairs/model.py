"""A folder of pairs: passages once, pairs that point at them, and a manifest of where all of it is from.

passages.jsonl   every passage of the documents: what a search chooses from
pairs.jsonl      a query, the passage that answers it, passages that look right and are not
manifest.json    sources with their licences, counts, settings, hashes of files and of what is held out
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any, Literal, get_args

from quelea_evaluation.inputs import BadInput, read_rows
from quelea_evaluation.reports.store import hash_text, write_rows

Split = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = get_args(Split)
PASSAGES, PAIRS, MANIFEST = "passages.jsonl", "pairs.jsonl", "manifest.json"


@dataclass(frozen=True)
class Passage:
    """A piece of a page: pages[page].text[start:end], in code points."""

    id: str
    """`DOCUMENT:PAGE:START-END`, as the evaluation names passages."""
    document: str
    """SHA-256 of its bytes, the first 32 hexadecimal digits."""
    page: int
    start: int
    end: int
    text: str
    head: str
    """Contextual header and head of a cut table: what the encoder reads before the text."""
    title: str
    company: str
    language: str
    section: str
    is_table: bool
    source: str
    """Of which set of documents: "stored", "tatqa", …"""
    licence: str

    @property
    def encoded(self) -> str:
        """What the encoder reads of it."""
        return f"{self.head}\n{self.text}" if self.head else self.text

    @property
    def group(self) -> str:
        """What is trained on or held out as one: a company's documents, else a document."""
        return f"company {self.company.casefold()}" if self.company else f"document {self.document}"


@dataclass(frozen=True)
class Pair:
    """A query and a passage that answers it."""

    id: str
    query: str
    passage: str
    """Its id."""
    document: str
    start: int
    end: int
    kind: str
    """figure, cause, comparison, definition, row, heading, caption, title, or the kind that a set gives."""
    language: str
    source: str
    licence: str
    made_by: str
    """A model's name; "rules" for what documents say themselves; "people"."""
    split: Split = "train"
    negatives: tuple[str, ...] = ()
    """Ids of passages that a search finds for the query, and that do not answer it."""
    also: tuple[str, ...] = ()
    """Ids of passages that answer it as well: a figure stands in more than one table."""

    @staticmethod
    def of(query: str, passage: Passage, kind: str, made_by: str) -> Pair:
        """A pair with its id, which is the hash of query and passage."""
        return Pair(
            id=hash_text(f"{query}\0{passage.id}")[:16],
            query=query,
            passage=passage.id,
            document=passage.document,
            start=passage.start,
            end=passage.end,
            kind=kind,
            language=passage.language,
            source=passage.source,
            licence=passage.licence,
            made_by=made_by,
        )

    def ask(self, query: str) -> Pair:
        """With other words of the query; the id stays, so that a review can be read in again."""
        return replace(self, query=query)


@dataclass(frozen=True)
class Pairs:
    """What a folder holds."""

    passages: dict[str, Passage]
    pairs: tuple[Pair, ...]

    def of(self, split: Split) -> list[Pair]:
        """The pairs of one split."""
        return [pair for pair in self.pairs if pair.split == split]


def fingerprint(text: str) -> str:
    """Hash of a text, widths, case and white space aside: the same words in two files have one."""
    return hash_text(" ".join(unicodedata.normalize("NFKC", text).casefold().split()))


def write_pairs(folder: Path, found: Pairs) -> None:
    """Write passages and pairs; the manifest is the caller's."""
    folder.mkdir(parents=True, exist_ok=True)
    write_rows(folder / PASSAGES, (asdict(one) for one in found.passages.values()))
    write_rows(folder / PAIRS, (asdict(one) for one in found.pairs))


def read_pairs(folder: Path) -> Pairs:
    """The folder as `write_pairs` wrote it.

    Raises:
        BadInput: A file is missing, or a line is not what it should be; the message names it.
    """
    for name in (PASSAGES, PAIRS):
        if not (folder / name).is_file():
            raise BadInput(f"{folder} has no {name}; make the folder with `quelea train pairs {folder}`")
    passages = {one.id: one for one in _read(folder / PASSAGES, Passage)}
    pairs = tuple(_read(folder / PAIRS, Pair))
    for pair in pairs:
        if pair.split not in SPLITS:
            raise BadInput(f"{folder / PAIRS}: pair {pair.id} has the split {pair.split!r}; there are {SPLITS}")
        if missing := {pair.passage, *pair.negatives, *pair.also} - passages.keys():
            raise BadInput(f"{folder / PAIRS}: pair {pair.id} names {min(missing)}, which {PASSAGES} does not have")
    return Pairs(passages, pairs)


def _read(path: Path, kind: type[Any]) -> Iterable[Any]:
    names = {one.name for one in fields(kind)}
    for number, row in read_rows(path, f"an object with {', '.join(sorted(names))}"):
        try:
            yield kind(**{name: _frozen(value) for name, value in row.items()})
        except TypeError as error:
            wrong = sorted(names ^ row.keys())
            raise BadInput(f"{path}, line {number}: fields are missing or strange: {', '.join(wrong)}") from error


def _frozen(value: object) -> object:
    return tuple(value) if isinstance(value, list) else value


def held_out(passages: Iterable[Passage], pairs: Sequence[Pair]) -> dict[str, list[str]]:
    """Hashes of what is tested with: ids of documents, and fingerprints of the texts of their passages."""
    documents = {pair.document for pair in pairs if pair.split == "test"}
    texts = {fingerprint(one.text) for one in passages if one.document in documents}
    return {"documents": sorted(documents), "texts": sorted(texts)}
