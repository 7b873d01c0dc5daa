"""The stored documents as a question is read against them: arranged by company."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from quelea_fintext.company_names import HOMONYMS, clean
from quelea_fintext.text import CJK

from quelea_retriever.core.model import DocumentFacts
from quelea_retriever.core.question.companies import NameBook
from quelea_retriever.core.question.filings import newest_first
from quelea_retriever.core.question.horizon import Horizon


@dataclass(frozen=True)
class Catalogue:
    """The stored documents, arranged by company. Build it again when a document comes or goes."""

    documents: tuple[DocumentFacts, ...]
    book: NameBook
    by_company: dict[str, tuple[DocumentFacts, ...]]
    """Newest first."""
    unowned: tuple[DocumentFacts, ...]
    """Documents of no company: news, regulations."""

    @classmethod
    def build(cls, documents: Sequence[DocumentFacts]) -> Catalogue:
        """A catalogue of these documents."""
        book = NameBook((d.company, d.company_aliases, d.ticker) for d in documents if d.company)
        owned: dict[str, list[DocumentFacts]] = defaultdict(list)
        for document in documents:
            if document.company:
                owned[book.key_of(document.company, document.company_aliases, document.ticker)].append(document)
        return cls(
            documents=tuple(documents),
            book=book,
            by_company={key: newest_first(group) for key, group in owned.items()},
            unowned=tuple(document for document in documents if not document.company),
        )

    @cached_property
    def horizon(self) -> Horizon:
        """How far all documents reach together; found when a question first names a period."""
        return Horizon.of(self.documents, undated=True)

    def named_in(self, texts: Iterable[str]) -> dict[str, str]:
        """The companies that texts name: how a text writes it -> key, in the order of the texts."""
        found: dict[str, str] = {}
        for text in map(clean, texts):
            for mention in self.book.find(text):
                written = text[mention.start : mention.end].removesuffix("'s").removesuffix("'").strip()
                found.setdefault(written, mention.key)
        return found

    def about(self, key: str) -> tuple[DocumentFacts, ...]:
        """Documents of no company whose title speaks of this one."""
        names = self.book.names_of(key)
        return tuple(d for d in self.unowned if d.title and any(speaks_of(d.title, name) for name in names))

    def not_of(self, key: str) -> Iterator[DocumentFacts]:
        """The documents of every other company."""
        return (d for other, documents in self.by_company.items() if other != key for d in documents)


def speaks_of(text: str, name: str) -> bool:
    """Whether the text has the name as a word of its own; a short name only as it is written."""
    text, name = text.lower(), name.lower()
    if CJK.search(name):
        return re.search(HOMONYMS.get(name, re.escape(name)), text) is not None
    at = text.find(name)
    while at >= 0:
        before, after = text[at - 1 : at], text[at + len(name) : at + len(name) + 1]
        if not (before.isalnum() and before.isascii()) and not (after.isalnum() and after.isascii()):
            return len(name) > 3 or text[at : at + len(name)] == name
        at = text.find(name, at + 1)
    return False
