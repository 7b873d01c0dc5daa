"""What is indexed of a tool: one text for the encoder, one for its words. Both speak Chinese and English."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from quelea_gateway.core.tools.model import CATEGORIES_CHINESE, Tool
from quelea_gateway.core.tools.terms import terms_of

SOURCES = frozenset("em sina ths cninfo xq js baidu jsl lg sw cx nbs tx futu".split())
_COLUMNS = 12
_GLOSSES = 14
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


def indexed(tool: Tool) -> IndexedTool:
    """The texts of a tool."""
    parts = name_parts(tool.name)
    said = f"{tool.description} {' '.join(tool.path)}"
    terms = terms_of(said, [part for part in parts if part not in SOURCES])
    category = f"{tool.category} {CATEGORIES_CHINESE.get(tool.category, '')}"
    columns = " ".join(column.name for column in tool.outputs[:_COLUMNS])
    path = " ".join(tool.path)
    gloss = _once(term.english[0] for term in terms if term.english and not term.words_only)
    head = f"{category} · {path} · {tool.description}" if path else f"{category} · {tool.description}"
    text = "\n".join((head, " ".join(parts), ", ".join(gloss[:_GLOSSES]), columns))
    words = _once([word for term in terms for word in (*term.chinese, *term.english, *term.said)])
    # Fields have weights by coming several times: what a tool says of itself counts more than its columns.
    said_once = (category, columns)
    weighted = 3 * [path, tool.description] + 2 * [" ".join(parts), *words]
    lexical = "\n".join((*said_once, *weighted))
    return IndexedTool(tool.name, tool.category, text, lexical)


def index_version(tools: Sequence[IndexedTool]) -> str:
    """32 hexadecimal digits over everything that is indexed."""
    digest = hashlib.sha256()
    for tool in tools:
        digest.update("\x1f".join((tool.name, tool.category, tool.text, tool.lexical, "\x1e")).encode())
    return digest.hexdigest()[:32]


def _once(words: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(words))
