"""A question as the second stage sees it: its content, whether it wants an amount, where the answer stands."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from quelea_fintext.languages import LANGUAGES
from quelea_fintext.times.periods import period_reader

from quelea_retriever.core.ranking.passage_view import YEAR
from quelea_retriever.core.sparse_vectors import tokens_of

_AMOUNT = LANGUAGES.pattern("questions.amount")
_REASON = LANGUAGES.pattern("questions.prose")
_FRAME = LANGUAGES.pattern("questions.frame")
SCAFFOLD = frozenset(tokens_of(" ".join(LANGUAGES.words("questions.scaffold"))))
_ROUTES = tuple(
    (
        LANGUAGES.pattern(f"questions.routes.{name}.asked"),
        LANGUAGES.pattern(f"questions.routes.{name}.found", ignore_case=False),
    )
    for name in dict.fromkeys(name for routes in LANGUAGES.of("questions.routes").values() for name in routes)
)


@dataclass(frozen=True, slots=True)
class QuestionView:
    """A question, read once per search."""

    text: str
    weights: dict[str, float]
    """Content terms, each with its share: 1, or less for words that frame a calculation."""
    years: frozenset[str]
    asks_amount: bool
    routes: tuple[re.Pattern[str], ...]
    """Where in a filing the answer stands: patterns for headings."""


def question_view(query: str, names: tuple[str, ...] = ()) -> QuestionView:
    """Read the question. `names` (of the companies it names) are no content."""
    content = content_of(query, names)
    tokens = [token for token in tokens_of(content) if not token[0].isdigit()]
    return QuestionView(
        text=query,
        weights={token: 0.3 if token in SCAFFOLD else 1.0 for token in tokens},
        years=frozenset(YEAR.findall(query)),
        asks_amount=bool(_AMOUNT.search(query)) and not _REASON.search(query),
        routes=tuple(found for asked, found in _ROUTES if asked.search(content)),
    )


def join_gloss(query: str, gloss: Sequence[str]) -> str:
    """The question with its gloss behind it, as text whose phrases do not run together."""
    return " , ".join((query, *gloss))


def content_of(query: str, names: tuple[str, ...] = ()) -> str:
    """The question without company names."""
    for name in names:
        query = re.sub(
            rf"(?<!\w){re.escape(name)}(?:'s"
            rf"|’s)?(?!\w)"
            if name.isascii()
            else re.escape(name),
            " ",
            query,
            flags=re.IGNORECASE,
        )
    return query


def clean(query: str, names: tuple[str, ...] = ()) -> str:
    """What is left to look for once the filing is chosen: without company, period and framing words."""
    left = _FRAME.sub(" ", period_reader().mention.sub(" ", content_of(query, names)))
    return left if tokens_of(left) else content_of(query, names)
