"""What is indexed of a tool: one text for the encoder, one for its words. Both speak Chinese and English."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quelea_gateway.core.tools.headings import Heading, headings_of, title_of
from quelea_gateway.core.tools.model import CATEGORIES_CHINESE, Tool
from quelea_gateway.core.tools.terms import Term, terms_of

SOURCES = frozenset("em sina ths cninfo xq js baidu jsl lg sw cx nbs tx futu".split())
_COLUMNS = 12
_GLOSSES = 14
_HEADINGS = 3
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")


@dataclass(frozen=True)
class IndexedTool:
    """What the retriever is given of a tool."""

    name: str
    category: str
    text: str
    lexical: str


def name_parts(name: str) -> tuple[str, ...]:
    """Words of a function's name, lower case: "yfinance.Ticker.get_news" is yfinance, ticker, get, news."""
    return tuple(word.lower() for word in _WORD.findall(name.replace("_", " ")))


def index_texts_of(tool: Tool) -> IndexedTool:
    """The texts of a tool."""
    parts = name_parts(tool.name)
    path = " ".join(tool.path)
    terms = terms_of(f"{tool.description} {path}", [part for part in parts if part not in SOURCES])
    headings = headings_of(tool)
    category = f"{tool.category} {CATEGORIES_CHINESE.get(tool.category, '')}"
    columns = " ".join(column.name for column in tool.outputs[:_COLUMNS])
    words = _once([word for term in terms for word in (*term.chinese, *term.english, *term.said)])
    words += _once([word for heading in headings for word in (heading.english, *heading.plain)])
    # Fields have weights by coming several times: what a tool says of itself counts more than its columns.
    said_once = (category, columns)
    weighted = 3 * [path, tool.description] + 2 * [" ".join(parts), *words]
    return IndexedTool(tool.name, tool.category, _meaning(tool, headings, terms), "\n".join((*said_once, *weighted)))


def _meaning(tool: Tool, headings: Sequence[Heading], terms: Sequence[Term]) -> str:
    """Its title, its headings in English and in plain words, and the terms that it names.

    Short on purpose: a vector of name, trail and columns too was found less often
    (docs/experiments/2026-11-22-tool-retrieval.md).
    """
    text = title_of(tool) or " ".join(name_parts(tool.name))
    if headings:
        english = "; ".join(heading.english for heading in headings[:_HEADINGS])
        plain = ", ".join(word for heading in headings[:_HEADINGS] for word in heading.plain)
        text += f": {english} ({plain})"
    gloss = _once(term.english[0] for term in terms if term.english and not term.words_only)[:_GLOSSES]
    return f"{text}. {', '.join(gloss)}" if gloss else text


def index_version(tools: Sequence[IndexedTool]) -> str:
    """32 hexadecimal digits over everything that is indexed."""
    digest = hashlib.sha256()
    for tool in tools:
        digest.update("\x1f".join((tool.name, tool.category, tool.text, tool.lexical, "\x1e")).encode())
    return digest.hexdigest()[:32]


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
